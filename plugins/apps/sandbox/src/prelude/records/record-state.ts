import type { Items, Json } from '../../../../shared/json';
import type { RecordData } from '../../../../shared/logic-protocol';
import { NativeRangeError, NativeTypeError, parse, stringify } from '../primordials';

/** A record's items as logic sees them, and the changes since the server last saw them. */
export interface RecordState {
  readonly app: string | null;
  id: string;
  url: string;
  items: Map<string, Json>;
  set: Set<string>;
  unset: Set<string>;
  inc: Map<string, number>;
  /** Objects that logic holds, with their JSON as the server knows it: they may be changed from inside. */
  exposed: Map<string, string>;
  /** Other code may have changed the record: read it again before its items are used. */
  stale: boolean;
  deleted: boolean;
  /** Who has created it, once logic has asked. */
  creator?: Json;
}

export function newState(app: string | null, data: RecordData): RecordState {
  return {
    app,
    id: data.id,
    url: data.url,
    items: itemMap(data.items),
    set: new Set(),
    unset: new Set(),
    inc: new Map(),
    exposed: new Map(),
    stale: false,
    deleted: false,
  };
}

/** Replaces the items by the server's; an object that logic holds stays the same object while its content is equal. */
export function refresh(state: RecordState, data: RecordData): void {
  const items = itemMap(data.items);
  const exposed = new Map<string, string>();
  for (const name of state.exposed.keys()) {
    const held = state.items.get(name);
    const json = stringify(items.get(name));
    if (!isObject(held) || stringify(held) !== json) continue;
    items.set(name, held);
    exposed.set(name, json);
  }
  state.id = data.id;
  state.url = data.url;
  state.items = items;
  state.exposed = exposed;
  state.stale = false;
}

export function readItem(state: RecordState, name: string): Json | undefined {
  const value = state.items.get(name);
  if (isObject(value) && !state.set.has(name) && !state.exposed.has(name)) state.exposed.set(name, stringify(value));
  return value;
}

export function setItem(state: RecordState, name: string, value: unknown): void {
  if (name === 'id') {
    if (value === state.id) return;
    throw new NativeTypeError('the id of a record cannot be changed');
  }
  state.items.set(name, jsonValue(name, value));
  state.set.add(name);
  state.unset.delete(name);
  state.inc.delete(name);
}

export function unsetItem(state: RecordState, name: string): void {
  if (name === 'id') throw new NativeTypeError('the id of a record cannot be removed');
  if (!state.items.delete(name)) return;
  state.unset.add(name);
  state.set.delete(name);
  state.inc.delete(name);
}

/** Adds to a number, beginning at 0; returns the sum as far as this request knows it. */
export function incItem(state: RecordState, name: string, by: unknown): number {
  if (typeof by !== 'number' || !Number.isFinite(by)) throw new NativeTypeError('inc: the second argument is a number');
  const value = state.items.get(name) ?? 0;
  if (typeof value !== 'number') throw new NativeTypeError(`inc: the item ${name} is not a number`);
  const added = (state.inc.get(name) ?? 0) + by;
  if (!Number.isFinite(value + by) || !Number.isFinite(added))
    throw new NativeRangeError(`inc: the sum in ${name} is too large`);
  if (state.set.has(name) || state.unset.has(name)) setItem(state, name, value + by);
  else {
    state.items.set(name, value + by);
    state.inc.set(name, added);
  }
  return value + by;
}

/** The changes that the server does not have yet, and a function that counts them as sent; null if there are none. */
export function pendingChange(state: RecordState): { change: Items; sent(): void } | null {
  for (const [name, json] of state.exposed) {
    const untouched = state.set.has(name) || !state.items.has(name) || stringify(state.items.get(name)) === json;
    if (!untouched) state.set.add(name);
  }
  if (state.deleted || state.set.size + state.unset.size + state.inc.size === 0) return null;
  const set: Items = {};
  const texts = new Map<string, string>();
  for (const name of state.set) {
    const value = state.items.get(name) ?? null;
    // Logic may have put something into an object since it was set.
    if (isObject(value)) texts.set(name, jsonText(name, value) as string);
    define(set, name, value);
  }
  const change: Items = {};
  if (state.set.size > 0) change.set = set;
  if (state.unset.size > 0) change.unset = [...state.unset];
  if (state.inc.size > 0) change.inc = Object.fromEntries(state.inc);
  const sent = () => {
    for (const [name, json] of texts) state.exposed.set(name, json);
    state.set.clear();
    state.unset.clear();
    state.inc.clear();
  };
  return { change, sent };
}

/** All items with the id, as a new object. */
export function allItems(state: RecordState): Items {
  const items: Items = { id: state.id };
  for (const name of state.items.keys()) if (name !== 'id') define(items, name, readItem(state, name) ?? null);
  return items;
}

function itemMap(items: Items): Map<string, Json> {
  return new Map(Object.entries(items).filter(([name]) => name !== 'id'));
}

/** Also right for an item called `__proto__`. */
function define(items: Items, name: string, value: Json): void {
  Object.defineProperty(items, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * The value as it will be stored; undefined is null. Plain objects and lists stay what they are, so that logic may go on
 * filling them. TypeError for a value that JSON does not have, also inside: it would be stored as something else.
 */
export function jsonValue(name: string, value: unknown, kind = 'item'): Json {
  if (value === undefined || value === null || typeof value === 'boolean' || typeof value === 'string')
    return value ?? null;
  const problem = notJson(value);
  if (problem) throw new NativeTypeError(`the ${kind} ${name} is ${problem}, which JSON does not have`);
  if (typeof value === 'number') return value;
  if (typeof value !== 'object') return null;
  const json = jsonText(name, value);
  const prototype: unknown = Object.getPrototypeOf(value);
  const kept = Array.isArray(value) || prototype === Object.prototype;
  return kept ? (value as Json) : json === undefined ? null : (parse(json) as Json);
}

/** JSON text of an object; TypeError when a value in it would be stored as something else. */
function jsonText(name: string, value: object): string | undefined {
  return stringify(value, (key, inner: unknown) => {
    const problem = notJson(inner);
    if (problem) throw new NativeTypeError(`the item ${name} holds ${problem} ("${key}"), which JSON does not have`);
    return inner;
  });
}

/** A description of a value that JSON would change or leave out; null if there is no such problem. */
function notJson(value: unknown): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : `the number ${value}`;
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`;
  return value instanceof Map || value instanceof Set ? `a ${value instanceof Map ? 'Map' : 'Set'}` : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
