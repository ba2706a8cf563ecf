import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml';
import type { Json } from '../../../shared/json';
import { type AppsError, definitionError, type SourcePosition } from '../common/errors';
import type { ThemeFile } from '../sites';

/** Maximum values and keys of a file; an alias counts as one. */
const MAX_VALUES = 30_000;
/** Maximum characters of a key in the file's text. */
const MAX_KEY = 1_000;
/** Maximum copies that all aliases of a file expand to (docs/limits.md#theme-files). */
const MAX_EXPANSION = 100;

/** An event that begins a value or a key. */
type StartEvent = Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>;

/** Offset at which a value or key begins in the text; -1 for an empty one, which has no text. */
function startOf(event: StartEvent): number {
  if (event.type === EVENT_ID.SCALAR) {
    const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    return event.valueStart - (quoted ? 1 : 0);
  }
  return event.type === EVENT_ID.ALIAS ? event.anchorStart - 1 : event.start;
}

interface Level {
  isMapping: boolean;
  /** In a mapping: whether a key comes next. */
  expectsKey: boolean;
  anchor: string | null;
  /** Aliases in this collection after expansion. */
  cost: number;
}

/** Refuses a file above the limits, in one pass over its events. `fail` gets an offset in the text. */
function checkEvents(events: readonly Event[], text: string, fail: (message: string, offset: number) => never): void {
  const levels: Level[] = [];
  let costs = new Map<string, number>();
  let values = 0;
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      const ended = levels.pop();
      if (!ended) continue;
      if (ended.anchor !== null) costs.set(ended.anchor, ended.cost);
      const outer = levels.at(-1);
      if (outer) outer.cost += ended.cost;
      continue;
    }
    if (event.type === EVENT_ID.DOCUMENT) {
      costs = new Map();
      levels.push({ isMapping: false, expectsKey: false, anchor: null, cost: 0 });
      continue;
    }
    const level = levels.at(-1);
    if (!level) continue;
    values += 1;
    if (values > MAX_VALUES) fail(`The file holds more than ${MAX_VALUES} values and keys`, startOf(event));
    if (level.expectsKey && event.type === EVENT_ID.SCALAR && event.valueEnd - event.valueStart > MAX_KEY) {
      fail(`A key has at most ${MAX_KEY} characters`, startOf(event));
    }
    if (level.isMapping) level.expectsKey = !level.expectsKey;
    const anchor = event.anchorStart < 0 ? null : text.slice(event.anchorStart, event.anchorEnd);
    if (event.type === EVENT_ID.SCALAR) {
      if (anchor !== null) costs.set(anchor, 0);
    } else if (event.type === EVENT_ID.ALIAS) {
      const problem = aliasProblem(costs, anchor as string, levels);
      if (problem) fail(problem, startOf(event));
    } else {
      const isMapping = event.type === EVENT_ID.MAPPING;
      levels.push({ isMapping, expectsKey: isMapping, anchor, cost: 0 });
    }
  }
}

/** The problem with an alias, or null; adds its cost to the level. */
function aliasProblem(costs: ReadonlyMap<string, number>, anchor: string, levels: readonly Level[]): string | null {
  if (levels.some((open) => open.anchor === anchor)) return `The alias *${shorten(anchor)} contains itself`;
  const cost = 1 + (costs.get(anchor) ?? 0);
  const level = levels.at(-1);
  if (level) level.cost += cost;
  const total = levels.reduce((sum, open) => sum + open.cost, 0);
  return total > MAX_EXPANSION ? `Aliases expand to more than ${MAX_EXPANSION} copies` : null;
}

/** A name for a message, cut after 200 characters. */
export function shorten(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

/** Keys and indexes that lead from the root of a YAML file to a value. */
export type Path = readonly (string | number)[];

/** Offsets at which a value and its key begin; -1: no text. An alias is one value without children. */
interface Node {
  start: number;
  keyStart: number;
  /** Those of a mapping or list; absent where it is empty, and for other values. */
  children?: Map<string | number, Node>;
}

interface OpenNode {
  node: Node;
  isMapping: boolean;
  count: number;
  /** In a mapping: the key whose value comes next. */
  key: { name: string; start: number } | null;
}

const newNode = (start: number, keyStart = -1): Node => ({ start, keyStart });

/** Lines and columns of the values and keys of a file, computed on the first use. */
class Positions {
  #root: Node | undefined;
  #lines: readonly number[] | undefined;

  constructor(
    private readonly text: string,
    private readonly events: readonly Event[],
  ) {}

  /** Line and column, counted from 1, of a path's value or key, or of the nearest value around it. */
  find(path: Path, kind: 'value' | 'key'): { line: number; column: number } {
    this.#root ??= nodesOf(this.events, this.text);
    let node = this.#root;
    let offset = Math.max(0, node.start);
    for (const [depth, part] of path.entries()) {
      const child = node.children?.get(part);
      if (!child) break;
      const isKey = kind === 'key' && depth === path.length - 1 && child.keyStart >= 0;
      if (isKey) offset = child.keyStart;
      else if (child.start >= 0) offset = child.start;
      node = child;
    }
    return this.at(offset);
  }

  /** Line and column of an offset in the text. */
  at(offset: number): { line: number; column: number } {
    this.#lines ??= [0, ...[...this.text.matchAll(/\r\n|\r|\n/g)].map(({ index, 0: end }) => index + end.length)];
    let [low, high] = [0, this.#lines.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#lines[low] ?? 0) + 1 };
  }
}

/** The first document's values as a tree of offsets, in one pass over the events. */
function nodesOf(events: readonly Event[], text: string): Node {
  let root = newNode(-1);
  const levels: OpenNode[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      levels.pop();
      if (levels.length === 0) break;
    } else if (event.type === EVENT_ID.DOCUMENT) {
      levels.push({ node: newNode(-1), isMapping: false, count: 0, key: null });
    } else {
      const level = levels.at(-1);
      if (!level) continue;
      const node = addNode(level, event, text);
      if (levels.length === 1) root = node;
      const isMapping = event.type === EVENT_ID.MAPPING;
      if (isMapping || event.type === EVENT_ID.SEQUENCE) levels.push({ node, isMapping, count: 0, key: null });
    }
  }
  return root;
}

/** Adds the offset of a value or key; an empty value begins at its key. */
function addNode(level: OpenNode, event: StartEvent, text: string): Node {
  const start = startOf(event);
  if (level.isMapping && level.key === null) {
    level.key = { name: event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : '', start };
    return newNode(start);
  }
  const node = newNode(start < 0 && level.key ? level.key.start : start, level.key?.start);
  level.node.children ??= new Map();
  level.node.children.set(level.key?.name ?? level.count, node);
  level.key = null;
  level.count += 1;
  return node;
}

/** Maximum characters of a YAML file: reading it takes at most a tenth of a second on the server's main thread. */
export const MAX_LENGTH = 128 * 1024;
/** Maximum depth of nested mappings and lists. */
export const MAX_DEPTH = 50;

/** A value of a YAML file with its position, for error messages. */
export interface YamlNode {
  readonly value: Json;
  /** Its path for messages: `elements.total.min`, cut where it is very long; '' for the whole file. */
  readonly name: string;
  readonly position: SourcePosition;
  /** A value inside this mapping or list. */
  child(key: string | number): YamlNode;
  /** The key itself, for errors about keys. */
  key(key: string): YamlNode;
  /** Throws a DefinitionError with the value's name and position. */
  fail(message: string): never;
  /** The error of `fail`, for warnings about unknown keys. */
  error(message: string): AppsError;
  /** Set where unknown keys are ignored. */
  readonly tolerance: Tolerance | undefined;
}

/** Ignores unknown keys: `warn` is called for each, at most `left` times. */
export interface Tolerance {
  left: number;
  warn(message: string): void;
}

/**
 * Reads a YAML file by the core schema: no custom tags, no duplicate keys, bounded size and expansion. An empty file is
 * null. DefinitionError with file, line and column for anything else that is not one YAML document of JSON values.
 */
export function readYaml(file: ThemeFile, tolerance?: Tolerance): YamlNode {
  const { path, text } = file;
  if (file.problem) throw definitionError(file.problem, { file: path });
  if (text.length > MAX_LENGTH)
    throw definitionError(`The file is longer than ${MAX_LENGTH / 1024} kB`, { file: path });
  try {
    const events = parseEvents(text, { maxDepth: MAX_DEPTH });
    const positions = new Positions(text, events);
    checkEvents(events, text, (message, offset) => {
      throw definitionError(message, { file: path, ...positions.at(Math.max(0, offset)) });
    });
    const documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA });
    if (documents.length > 1) throw definitionError('The file must hold one YAML document', { file: path });
    const root = new LinkedNode((documents[0] ?? null) as Json, { positions, file: path, tolerance });
    refuseOddValues(root);
    return root;
  } catch (error) {
    if (error instanceof YAMLException) throw yamlError(error, file);
    throw error;
  }
}

/** Where a value of a file is that was read before; null in a file that cannot be read. */
export function positionIn(file: ThemeFile, path: Path): SourcePosition | null {
  try {
    return path.reduce((node, step) => node.child(step), readYaml(file)).position;
  } catch {
    return null;
  }
}

const IN_QUOTES =
  'Put a text in quotes that has ": " or " #" in it, or begins with a special character, such as { [ * & ! | > @ %';

/** What to write instead, by the parser's reasons for the mistakes that people make most. */
const instead: readonly [RegExp, string][] = [
  [/^tab characters/, 'Indent with spaces, two for each level'],
  [/^duplicated mapping key/, 'Remove one of the two, or give it another name'],
  [/^bad indentation/, `Give all keys of a mapping the same indentation. ${IN_QUOTES}`],
  [/^missed comma|^name of an alias|^unidentified alias|^unknown tag/, IN_QUOTES],
];

function yamlError(error: YAMLException, { path, text }: ThemeFile): AppsError {
  const { mark, reason } = error;
  const position = mark ? { file: path, line: mark.line + 1, column: mark.column + 1 } : { file: path };
  const isTwice = mark && reason === 'duplicated mapping key';
  const key = isTwice ? /^["']?([^"':\n]{1,100})/.exec(text.slice(mark.position))?.[1] : undefined;
  const hint = instead.find(([pattern]) => pattern.test(reason))?.[1];
  const what = `This is not valid YAML: ${shorten(reason)}${key ? ` "${key.trim()}"` : ''}`;
  return definitionError(hint ? `${what}. ${hint}` : what, position);
}

/** A value or key with a link to its parent; computes its path and position when they are read. */
class LinkedNode implements YamlNode {
  constructor(
    readonly value: Json,
    private readonly source: { positions: Positions; file: string; tolerance?: Tolerance },
    private readonly link?: { outer: LinkedNode; step: string | number; kind: 'value' | 'key' },
  ) {}

  get name(): string {
    return shorten(this.path.join('.'));
  }

  get position(): SourcePosition {
    const { positions, file } = this.source;
    return { file, ...positions.find(this.path, this.link?.kind ?? 'value') };
  }

  child(key: string | number): YamlNode {
    const value = (this.value as { [key: string | number]: Json })[key] as Json;
    return new LinkedNode(value, this.source, { outer: this, step: key, kind: 'value' });
  }

  key(key: string): YamlNode {
    return new LinkedNode(key, this.source, { outer: this, step: key, kind: 'key' });
  }

  get tolerance(): Tolerance | undefined {
    return this.source.tolerance;
  }

  fail(message: string): never {
    throw this.error(message);
  }

  error(message: string): AppsError {
    const { name } = this;
    return definitionError(name === '' ? message : `${name}: ${message}`, this.position);
  }

  private get path(): Path {
    const path: (string | number)[] = [];
    for (let { link } = this as LinkedNode; link; link = link.outer.link) path.unshift(link.step);
    return path;
  }
}

/** Refuses numbers that JSON lacks, and the key `__proto__`. Checks values once that aliases repeat. */
function refuseOddValues(at: YamlNode, seen = new Set<Json>()): void {
  const { value } = at;
  if (typeof value === 'number' && !Number.isFinite(value)) at.fail('Infinite and undefined numbers are not allowed');
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  for (const key of Object.keys(value)) {
    if (key === '__proto__') at.key(key).fail('This key is not allowed');
    refuseOddValues(at.child(Array.isArray(value) ? Number(key) : key), seen);
  }
}
