import { recordMethods } from 'apps:host-functions';
import type { Items, Json } from '../../../../shared/json';
import type { RecordData, SavedData } from '../../../../shared/logic-protocol';
import { forwardedArguments, idText, isPlain, named } from '../arguments';
import { hasOwn, NativeError, NativeTypeError, parse, stringify } from '../primordials';
import { isRequest } from '../request';
import {
  allItems,
  incItem,
  pendingChange,
  type RecordState,
  readItem,
  refresh,
  setItem,
  unsetItem,
} from './record-state';

const states = new WeakMap<object, RecordState>();

/** The record behind an object of logic, if it is one. */
export function stateOf(value: unknown): RecordState | undefined {
  return typeof value === 'object' && value !== null ? states.get(value) : undefined;
}

/** The calls that a record makes to its session. */
interface Server {
  call(name: string, args: Items): Json;
  /** A call that does not depend on items of this session: nothing is written back first. */
  read(name: string, args: Items): Json;
  spread(): void;
  /** Takes over the record as it was saved. */
  renew(state: RecordState, now: RecordData): void;
}

/**
 * The state of `record`, read again if other code may have changed it. What logic has meanwhile changed inside of a list or an object
 * is sent first: it would be replaced by what is read.
 */
function fresh(record: object): RecordState {
  const state = states.get(record);
  if (!state) throw new NativeTypeError('this method belongs to a record');
  if (state.stale) {
    const server = servers.get(state) as Server;
    const read = pendingChange(state) ? server.call : server.read;
    const data = read('getRecord', { app: state.app, id: state.id });
    state.stale = false;
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

/** Sets the items of an object, or those of a record without its id. TypeError for any other value. */
function setItems(state: RecordState, given: unknown): void {
  const isRecord = stateOf(given) !== undefined;
  if (!isRecord && !isPlain(given)) throw new NativeTypeError('the items of a record are an object');
  // A copy: two records do not share what is in their lists.
  const items = isRecord ? (parse(stringify(given)) as Items) : (given as Items);
  for (const [name, item] of Object.entries(items)) if (!isRecord || name !== 'id') setItem(state, name, item);
}

const servers = new WeakMap<RecordState, Server>();

/** The methods of a record (docs/reference/logic.md#a-record); every other property is an item. */
export class LogicRecord {
  get id(): string {
    return fresh(this).id;
  }

  get url(): string {
    return fresh(this).url;
  }

  /** Who has created the record; asked for at the first use, because it is an account of its own. */
  get creator(): Json {
    const state = fresh(this);
    if (state.creator === undefined)
      state.creator = servers.get(state)?.read('recordCreator', { app: state.app, id: state.id }) ?? null;
    return state.creator;
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
    if (typeof name === 'string' || typeof name === 'number') setItem(state, String(name), value);
    else setItems(state, name);
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
    const state = writable(this);
    if (!form && items !== undefined && items !== null) setItems(state, items);
    const server = servers.get(state) as Server;
    const { block_id: id, block, creation } = named([options], ['block_id']);
    const wanted = idText(id ?? (isPlain(block) ? block.id : block), 'save') ?? null;
    const request = { app: state.app, id: state.id, block: wanted, creation: creation === true, form };
    const { record, ran, returned } = server.call('saveRecord', request) as unknown as SavedData;
    server.spread();
    server.renew(state, record);
    return ran ? returned : this;
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

for (const method of recordMethods) {
  const value = function (this: LogicRecord, ...args: unknown[]): Json {
    const state = writable(this);
    const { app, id } = state;
    return servers.get(state)?.call(method.name, { app, id, ...forwardedArguments(method, args) }) ?? null;
  };
  Object.defineProperty(LogicRecord.prototype, method.method, { value, configurable: true, writable: true });
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

/** The object that logic has for a record. */
export function viewOf(state: RecordState, server: Server): object {
  const target = new LogicRecord();
  const view = new Proxy(target, handler);
  states.set(target, state);
  states.set(view, state);
  servers.set(state, server);
  return view;
}
