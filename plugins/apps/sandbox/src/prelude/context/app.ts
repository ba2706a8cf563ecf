import { appMethods } from 'apps:host-functions';
import type { Items, Json } from '../../../../shared/json';
import type { ContextData, RecordData } from '../../../../shared/logic-protocol';
import { forwardedArguments, idText, isPlain, named, requiredId } from '../arguments';
import { once } from '../each-session';
import { type Log, logText } from '../log';
import { looked } from '../looked';
import { keys, NativeTypeError, text } from '../primordials';
import { stateOf } from '../records/record-view';
import type { Records } from '../records/records';

/** Records in one page when a list of all records is read. */
const PAGE = 1000;

export interface AppOptions {
  /** Null: the session's own app. */
  key: string | null;
  data: ContextData['app'];
  acl: ContextData['acl'];
  records: Records;
  log: Log;
}

/** `context.app`, or what `context.get_app(id)` gives. */
export function createApp({ key, data, acl, records, log }: AppOptions): object {
  const { call, adopt, adoptOrNull } = records;
  const withApp = (args: Items): Items => ({ app: key, ...args });
  const adoptAll = (found: Json) => (found as unknown as RecordData[]).map((record) => adopt(key, record));
  const page = (options: Items) => {
    const { records: found, cursor } = call('records', withApp({ options })) as { records: Json; cursor: Json };
    const list = adoptAll(found) as object[] & { cursor: Json };
    return Object.defineProperty(list, 'cursor', { value: cursor, configurable: true });
  };
  const blocks = once(() => data.blocks.map((block) => createBlock(block, key, records)));
  const rights = once(() => createAcl(acl));

  const write = (...messages: unknown[]): void => log.write(undefined, messages.map(logText).join(' '));

  const app: Record<string, unknown> = {
    id: data.id,
    url: data.url,
    settings: data.settings,
    options: data.options,
    get blocks() {
      return blocks();
    },
    indexes: data.indexes,
    get acl() {
      return rights();
    },
    absolute_url: () => data.url,

    log: write,
    /** Rapido's name. */
    add_message: write,
    /** Log entries of this block so far, also those of `console`. */
    get messages() {
      return log.messages();
    },
    create_record(id?: unknown): object | null {
      return adoptOrNull(key, call('createRecord', withApp({ id: idArgument(id, 'create_record') ?? null })));
    },
    get_record(id: unknown): object | null {
      return adoptOrNull(
        key,
        call('getRecord', withApp({ id: requiredId(idArgument(id, 'get_record'), 'get_record') })),
      );
    },
    delete_record(record: unknown, options?: unknown): boolean {
      const id = requiredId(idArgument(record, 'delete_record'), 'delete_record');
      const given = named([record, options], []);
      const onDelete = given.on_delete !== false && given.ondelete !== false;
      const deleted = call('deleteRecord', withApp({ id, on_delete: onDelete })) as boolean;
      records.forget(key, id);
      if (onDelete) records.spread();
      return deleted;
    },
    /** All records; with `limit` or `cursor` one page of them, whose `cursor` asks for the next one, null at the end. */
    records(...args: unknown[]): object[] {
      const { own = null, ...paging } = named(args, ['limit', 'cursor']) as Items;
      if (keys(paging).length > 0) return page({ ...paging, own });
      const all = page({ limit: PAGE, own });
      for (let { cursor } = all; cursor !== null; ) {
        const next = page({ limit: PAGE, own, cursor });
        for (const record of next) all.push(record);
        cursor = next.cursor;
      }
      return Object.defineProperty(all, 'cursor', { value: null });
    },
    search(...args: unknown[]): object[] {
      const { query = '', ...options } = named(args, ['query', 'sort_index', 'reverse']) as Items;
      return adoptAll(call('search', withApp({ query, options })));
    },
    get_block(id: unknown): object | null {
      const wanted = idArgument(id, 'get_block');
      return blocks().find((block) => block.id === wanted) ?? null;
    },
  };
  for (const method of appMethods)
    app[method.method] = (...args: unknown[]): Json => call(method.name, withApp(forwardedArguments(method, args)));
  return app;
}

/** A reference to a block of an app: as JSON, its id and address. */
export function createBlock(data: { id: string; url: string }, app: string | null, records: Records): typeof data {
  const address = { app, id: data.id };
  const elements = once(() => records.call('blockElements', address));
  const display = (...args: unknown[]): Json => {
    const { record, edit } = named(args, ['record', 'edit']);
    const about = { record: idArgument(record, 'display') ?? null, edit: edit === true };
    const html = records.call('displayBlock', { ...address, ...about });
    records.spread();
    return html;
  };
  const block = { ...data, absolute_url: () => data.url, display };
  // Counted each time: logic may have made a record meanwhile.
  const places = () => records.call('blockPlaces', address);
  return Object.defineProperties(block, { elements: { get: elements }, places: { get: places } });
}

function createAcl(given: ContextData['acl']): object {
  /** What follows from the requester's groups, and from the names that rights and roles list. */
  const held = () => {
    looked.at('groups');
    return given;
  };
  return {
    current_user() {
      looked.at('acl');
      return given.username;
    },
    current_user_groups: () => [...held().groups],
    has_access_right(right: unknown) {
      const { manager, rights } = held();
      return manager || rights.includes(nameArgument(right, 'access_right'));
    },
    has_role: (role: unknown) => held().held.includes(nameArgument(role, 'role_id')),
    roles: () => [...held().roles],
    is_manager: () => held().manager,
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
