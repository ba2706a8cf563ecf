import type { RecordData, SavedData } from '../../../server/src/logic/types';
import type { Items, Json } from '../../../shared/json';
import { idText, isPlain, named } from './arguments';
import { type Exchange, only } from './bridge';
import { hostError } from './errors';
import { hasOwn, NativeError, NativeTypeError } from './primordials';
import {
  allItems,
  incItem,
  newState,
  type RecordState,
  readItem,
  refresh,
  setItem,
  takeChange,
  unsetItem,
} from './record-state';
import { isRequest } from './request';

const states = new WeakMap<object, RecordState>();

/** The record behind an object of logic, if it is one. */
export function stateOf(value: unknown): RecordState | undefined {
  return typeof value === 'object' && value !== null ? states.get(value) : undefined;
}

/** The records that logic has met in this session: one object for each. */
export interface Records {
  /** Makes a host call after everything that it could see has been written back. */
  call(name: string, args: Items): Json;
  /** The object for a record that the server gave. */
  adopt(app: string | null, data: RecordData): object;
  /** As `adopt`, null for null. */
  adoptOrNull(app: string | null, data: Json): object | null;
  forget(app: string | null, id: string): void;
  /** Marks all records to be read again before use: code that ran inside a call may have changed any of them. */
  spread(): void;
  /** Calls `take` before each call that could see a pending change; it returns that change, or null. */
  pending(take: () => Pending | null): void;
  /** Writes pending changes back. */
  flush(): void;
}

/** A change of something other than a record. */
export interface Pending {
  call: [name: string, args: Items];
  done(value: Json): void;
}

/** Host calls that see no record: nothing is written back before them. */
const blind = new Set(['log', 'respond', 'openApp']);

export function createRecords(exchange: Exchange): Records {
  const known = new Map<string, { state: RecordState; view: object }>();
  const sources: (() => Pending | null)[] = [];
  const keyOf = (app: string | null, id: string) => `${app ?? ''}\n${id}`;

  /** One round trip: the pending changes, then the call itself. */
  function send(last: [string, Items][]): Json {
    const changed: RecordState[] = [];
    const changes: [string, Items][] = [];
    for (const { state } of known.values()) {
      const change = takeChange(state);
      if (!change) continue;
      changed.push(state);
      changes.push(['changeRecord', { app: state.app, id: state.id, change }]);
    }
    const others = sources.flatMap((take) => take() ?? []);
    if (changes.length + others.length + last.length === 0) return null;
    const answer = exchange([...changes, ...others.map(({ call }) => call), ...last]);
    for (const [index, data] of answer.values.slice(0, changed.length).entries())
      refresh(changed[index], data as never);
    const seen = answer.values.slice(changed.length);
    for (const [index, { done }] of others.entries()) if (index < seen.length) done(seen[index]);
    if (answer.error) throw hostError(answer.error);
    return seen[others.length] ?? null;
  }

  const records: Records = {
    call: (name, args) => (blind.has(name) ? only(exchange([[name, args]])) : send([[name, args]])),
    flush: () => void send([]),
    pending: (take) => void sources.push(take),
    adopt(app, data) {
      const entry = known.get(keyOf(app, data.id));
      if (entry) {
        refresh(entry.state, data);
        return entry.view;
      }
      const state = newState(app, data);
      const view = viewOf(state, {
        call: records.call,
        spread: records.spread,
        read: (name, args) => only(exchange([[name, args]])),
        renew(changed, now) {
          // At its creation a record may get its id from the block's `record_id`.
          if (changed.id !== now.id) known.delete(keyOf(changed.app, changed.id));
          refresh(changed, now);
          known.set(keyOf(changed.app, now.id), { state: changed, view });
        },
      });
      known.set(keyOf(app, data.id), { state, view });
      return view;
    },
    adoptOrNull: (app, data) => (data === null ? null : records.adopt(app, data as never)),
    forget(app, id) {
      const entry = known.get(keyOf(app, id));
      if (entry) entry.state.deleted = true;
      known.delete(keyOf(app, id));
    },
    spread() {
      for (const { state } of known.values()) state.stale = true;
    },
  };
  return records;
}

interface Server {
  call(name: string, args: Items): Json;
  /** A call that sees no item of this session: nothing is written back first. */
  read(name: string, args: Items): Json;
  spread(): void;
  /** Takes over the record as it was saved. */
  renew(state: RecordState, now: RecordData): void;
}

/** The state of `record`, read again if other code may have changed it. */
function fresh(record: object): RecordState {
  const state = states.get(record);
  if (!state) throw new NativeTypeError('this method belongs to a record');
  if (state.stale) {
    state.stale = false;
    const data = servers.get(state)?.read('getRecord', { app: state.app, id: state.id }) ?? null;
    if (data === null) state.deleted = true;
    else refresh(state, data as never);
  }
  return state;
}

function writable(record: object): RecordState {
  const state = fresh(record);
  if (state.deleted) throw new NativeError(`the record ${state.id} has been deleted`);
  return state;
}

const servers = new WeakMap<RecordState, Server>();

/** The methods of contract section 8; everything else on a record is an item. */
class LogicRecord {
  get id(): string {
    return fresh(this).id;
  }

  get url(): string {
    return fresh(this).url;
  }

  absolute_url(): string {
    return fresh(this).url;
  }

  get(name: unknown, otherwise: unknown = null): unknown {
    const state = fresh(this);
    if (name === 'id') return state.id;
    return state.items.has(String(name)) ? readItem(state, String(name)) : otherwise;
  }

  set(name: unknown, value?: unknown): this {
    const state = writable(this);
    if (isPlain(name)) for (const [key, item] of Object.entries(name)) setItem(state, key, item);
    else setItem(state, String(name), value);
    return this;
  }

  items(): Items {
    return allItems(fresh(this));
  }

  inc(name: unknown, by: unknown = 1): number {
    return incItem(writable(this), String(name), by);
  }

  /** Returns what the block's `on_save` returned; the record if no block was involved. */
  save(items?: unknown, options?: unknown): unknown {
    const form = isRequest(items);
    if (!form && isPlain(items)) this.set(items);
    const state = writable(this);
    const server = servers.get(state) as Server;
    const { block_id: id, block, creation } = named([options], ['block_id']);
    const wanted = idText(id ?? (isPlain(block) ? block.id : block), 'save') ?? null;
    const request = { app: state.app, id: state.id, block: wanted, creation: creation === true, form };
    const { record, ran, returned } = server.call('saveRecord', request) as unknown as SavedData;
    server.spread();
    server.renew(state, record);
    return ran ? returned : this;
  }

  reindex(): void {
    const state = writable(this);
    servers.get(state)?.call('reindexRecord', { app: state.app, id: state.id });
  }

  set_block(id: unknown): this {
    return this.set('block', idText(named([id], ['block_id']).block_id ?? named([id], ['id']).id, 'set_block'));
  }

  display(options?: unknown): Json {
    const state = writable(this);
    const edit = named([options], ['edit']).edit === true;
    const html = servers.get(state)?.call('displayRecord', { app: state.app, id: state.id, edit }) ?? null;
    servers.get(state)?.spread();
    return html;
  }

  toJSON(): Items {
    return this.items();
  }
}

const own = (name: PropertyKey) => name !== 'constructor' && hasOwn(LogicRecord.prototype, name);

/** Items as properties. Names of methods are not items; `record.get('items')` reaches an item of such a name. */
const handler: ProxyHandler<LogicRecord> = {
  get(target, name, view) {
    if (typeof name === 'symbol' || own(name)) return Reflect.get(target, name, view);
    const state = fresh(target);
    if (state.items.has(name)) return readItem(state, name);
    // Rapido's name of the id; an item with this name wins.
    return name === 'uid' ? state.id : Reflect.get(target, name, view);
  },
  set(target, name, value) {
    if (typeof name === 'symbol') return false;
    if (name !== 'id' && own(name)) {
      throw new NativeTypeError(`${name} belongs to every record: use set('${name}', value) for an item of that name`);
    }
    setItem(writable(target), name, value);
    return true;
  },
  has: (target, name) => typeof name === 'string' && (name === 'id' || fresh(target).items.has(name)),
  deleteProperty(target, name) {
    if (typeof name === 'string') unsetItem(writable(target), name);
    return true;
  },
  ownKeys: (target) => Object.keys(allItems(fresh(target))),
  getOwnPropertyDescriptor(target, name) {
    const state = fresh(target);
    if (typeof name === 'symbol' || (name !== 'id' && !state.items.has(name))) return undefined;
    const value = name === 'id' ? state.id : readItem(state, name);
    return { value, writable: true, enumerable: true, configurable: true };
  },
  defineProperty(target, name, descriptor) {
    if (typeof name === 'symbol' || !('value' in descriptor)) return false;
    setItem(writable(target), name, descriptor.value);
    return true;
  },
  preventExtensions: () => false,
  setPrototypeOf: () => false,
};

function viewOf(state: RecordState, server: Server): object {
  const target = new LogicRecord();
  const view = new Proxy(target, handler);
  states.set(target, state);
  states.set(view, state);
  servers.set(state, server);
  return view;
}
