import { CORE_SCHEMA, constructFromEvents, parseEvents, YAMLException } from 'js-yaml';
import type { Json } from '../../../../shared/json';
import { type AppsError, definitionError, type SourcePosition } from '../../common/errors';
import type { ThemeFile } from '../../sites';
import { checkEvents, shorten } from './events';
import { type Path, Positions } from './positions';

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
