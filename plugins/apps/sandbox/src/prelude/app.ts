import type { ContextData, RecordData } from '../../../server/src/logic/types';
import type { Items, Json } from '../../../shared/json';
import { idText, isPlain, named, requiredId } from './arguments';
import { stackHere } from './errors';
import { once } from './once';
import { keys, NativeTypeError, slice, stringify, text } from './primordials';
import { type Records, stateOf } from './records';

/** Records that one call brings when all are asked for. */
const PAGE = 1000;

export interface AppOptions {
  /** Null: the session's own app. */
  key: string | null;
  data: ContextData['app'];
  acl: ContextData['acl'];
  records: Records;
  logEntrySize: number;
}

/** `context.app`, or what `context.get_app(id)` gives. */
export function createApp({ key, data, acl, records, logEntrySize }: AppOptions): object {
  const { call, adopt, adoptOrNull } = records;
  const place = (args: Items): Items => ({ app: key, ...args });
  const adoptAll = (found: Json) => (found as unknown as RecordData[]).map((record) => adopt(key, record));
  const page = (options: Items) => {
    const { records: found, cursor } = call('records', place({ options })) as { records: Json; cursor: Json };
    const list = adoptAll(found) as object[] & { cursor: Json };
    return Object.defineProperty(list, 'cursor', { value: cursor, configurable: true });
  };
  const blocks = once(() => data.blocks.map((block) => createBlock(block, key, records)));
  const logged: string[] = [];
  const rights = once(() => createAcl(acl));

  return {
    id: data.id,
    url: data.url,
    settings: data.settings,
    get blocks() {
      return blocks();
    },
    indexes: data.indexes,
    get acl() {
      return rights();
    },
    absolute_url: () => data.url,

    log(...messages: unknown[]): void {
      const message = slice(messages.map(logText).join(' '), 0, logEntrySize);
      call('log', { message, stack: stackHere() });
      logged.push(message);
    },
    /** What this block has logged so far. */
    get messages() {
      return [...logged];
    },
    /** The indexes are always up to date: this repairs indexes that something outside of the plugin has damaged. */
    refresh(...args: unknown[]): Json {
      const { rebuild = false } = named(args, ['rebuild']) as Items;
      return call('refresh', place({ rebuild }));
    },
    create_record(id?: unknown): object | null {
      return adoptOrNull(key, call('createRecord', place({ id: idArgument(id, 'create_record') ?? null })));
    },
    get_record(id: unknown): object | null {
      return adoptOrNull(key, call('getRecord', place({ id: requiredId(idArgument(id, 'get_record'), 'get_record') })));
    },
    delete_record(record: unknown, options?: unknown): boolean {
      const id = requiredId(idArgument(record, 'delete_record'), 'delete_record');
      const given = named([record, options], []);
      const onDelete = given.on_delete !== false && given.ondelete !== false;
      const deleted = call('deleteRecord', place({ id, on_delete: onDelete })) as boolean;
      records.forget(key, id);
      if (onDelete) records.spread();
      return deleted;
    },
    /** All records; with `limit` or `cursor` one page of them, whose `cursor` asks for the next one, null at the end. */
    records(...args: unknown[]): object[] {
      const options = named(args, ['limit', 'cursor']) as Items;
      if (keys(options).length > 0) return page(options);
      const all = page({ limit: PAGE });
      for (let { cursor } = all; cursor !== null; ) {
        const next = page({ limit: PAGE, cursor });
        for (const record of next) all.push(record);
        cursor = next.cursor;
      }
      return Object.defineProperty(all, 'cursor', { value: null });
    },
    count(...args: unknown[]): Json {
      const { query = null, names = null } = named(args, ['query']) as Items;
      return call('count', place({ query, names }));
    },
    search(...args: unknown[]): object[] {
      const { query = '', ...options } = named(args, ['query', 'sort_index', 'reverse']) as Items;
      return adoptAll(call('search', place({ query, options })));
    },
    get_block(id: unknown): object | null {
      const wanted = idArgument(id, 'get_block');
      return blocks().find((block) => block.id === wanted) ?? null;
    },
  };
}

/** A reference to a block of an app: as JSON, its id and address. */
export function createBlock(data: { id: string; url: string }, app: string | null, records: Records): typeof data {
  const place = { app, id: data.id };
  const elements = once(() => records.call('blockElements', place));
  const display = (...args: unknown[]): Json => {
    const { record, edit } = named(args, ['record', 'edit']);
    const about = { record: idArgument(record, 'display') ?? null, edit: edit === true };
    const html = records.call('displayBlock', { ...place, ...about });
    records.spread();
    return html;
  };
  const block = { ...data, absolute_url: () => data.url, display };
  return Object.defineProperty(block, 'elements', { get: elements });
}

function createAcl(acl: ContextData['acl']): object {
  return {
    current_user: () => acl.username,
    current_user_groups: () => [...acl.groups],
    has_access_right: (right: unknown) => acl.manager || acl.rights.includes(nameArgument(right, 'access_right')),
    has_role: (role: unknown) => acl.held.includes(nameArgument(role, 'role_id')),
    roles: () => [...acl.roles],
    is_manager: () => acl.manager,
  };
}

/** A name from `'x'` or `{ [key]: 'x' }`. */
function nameArgument(value: unknown, key: string): string {
  return text(isPlain(value) ? value[key] : value);
}

/** An id from `'x'`, `{ id: 'x' }`, a record or `{ record }`. */
function idArgument(value: unknown, what: string): string | undefined {
  const state = stateOf(value);
  if (state) return state.id;
  if (isPlain(value)) return idArgument(value.id ?? value.block_id ?? value.record, what);
  if (typeof value === 'object' && value !== null) throw new NativeTypeError(`${what}: an id or a record is needed`);
  return idText(value, what);
}

function logText(message: unknown): string {
  if (typeof message === 'string') return message;
  try {
    return typeof message === 'object' ? stringify(message) : text(message);
  } catch {
    return 'a value that cannot be shown';
  }
}
