import { EVENT_ID, type Event, getScalarValue } from 'js-yaml';
import { type StartEvent, startOf } from './events';

/** Keys and indexes that lead from the root of a YAML file to a value. */
export type Path = readonly (string | number)[];

/** Offsets at which a value and its key begin; -1: no text. An alias is one value without children. */
interface Node {
  start: number;
  keyStart: number;
  /** Of a mapping or list that has any. */
  children?: Map<string | number, Node>;
}

interface Level {
  node: Node;
  isMapping: boolean;
  count: number;
  /** In a mapping: the key whose value comes next. */
  key: { name: string; start: number } | null;
}

const newNode = (start: number, keyStart = -1): Node => ({ start, keyStart });

/** Lines and columns of the values and keys of a file, computed on the first use. */
export class Positions {
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
  const levels: Level[] = [];
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
function addNode(level: Level, event: StartEvent, text: string): Node {
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
