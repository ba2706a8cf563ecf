import { EVENT_ID, type Event, SCALAR_STYLE } from 'js-yaml';

/** Maximum values and keys of a file; an alias counts as one. */
const MAX_VALUES = 30_000;
/** Maximum characters of a key in the file's text. */
const MAX_KEY = 1_000;
/** Maximum copies that all aliases of a file expand to (docs/limits.md#theme-files). */
const MAX_EXPANSION = 100;

/** An event that begins a value or a key. */
export type StartEvent = Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>;

/** Offset at which a value or key begins in the text; -1 for an empty one, which has no text. */
export function startOf(event: StartEvent): number {
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
export function checkEvents(
  events: readonly Event[],
  text: string,
  fail: (message: string, offset: number) => never,
): void {
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
