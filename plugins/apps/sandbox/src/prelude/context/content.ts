import { documentMethods } from 'apps:host-functions';
import type { Items, Json } from '../../../../shared/json';
import type { ContentData, ContextData } from '../../../../shared/logic-protocol';
import { dayBegin } from '../../site-time';
import { idText, named, namedOrNull } from '../arguments';
import { looked } from '../looked';
import { hasOwn, keys, NativeTypeError, parse, stringify, text } from '../primordials';
import { jsonValue } from '../records/record-state';
import type { Records } from '../records/records';

type Call = (name: string, args: Items) => Json;

/** The type and document id by which `context.api.content` names an item to the server. */
const addresses = new WeakMap<object, { type: string; documentId: string | null }>();

/** Properties that cannot be assigned to: the server computes them. */
const fixed = new Set(['type', 'id', 'documentId', 'url', 'path']);

/**
 * A content item of the host: its fields as properties. Those of the current one may be assigned to, and are stored at the
 * end; those of others are read only, because an assignment would not be stored.
 */
export function createContent(data: ContentData, current: Current | null): object {
  const content = {};
  const { type, documentId } = data;
  addresses.set(content, { type, documentId });
  const show = (now: ContentData) => {
    const { fields, ...rest } = now;
    for (const name of keys(fields)) property(content, name, fields[name]);
    for (const name of keys(rest)) property(content, name, rest[name as keyof typeof rest]);
    property(content, 'absolute_url', () => now.url, false);
    property(content, 'absolute_url_path', () => now.path, false);
  };
  show(data);
  for (const [name, method] of [
    ['getURL', 'absolute_url'],
    ['getPath', 'absolute_url_path'],
  ] as const)
    if (!hasOwn(content, name))
      property(content, name, () => (content as { [key: string]: () => string })[method]?.(), false);
  if (!hasOwn(content, 'getObject')) property(content, 'getObject', () => content, false);
  return current ? assignable(content, current, (now) => show(now as unknown as ContentData)) : content;
}

/** Options of the current item: the session's calls, and whether the request may change content. */
interface Current {
  records: Records;
  changes: boolean;
}

/**
 * The item with `update(data)`, and with fields that can be assigned to: assigned values are sent with the next call. A value
 * that will be refused is sent at once, so that the error names the line of the assignment.
 */
function assignable(content: object, { records, changes: mayChange }: Current, show: (now: Json) => void): object {
  let changes: Items = {};
  records.pending(() => {
    if (keys(changes).length === 0) return null;
    const sent = () => {
      changes = {};
    };
    return { call: ['contentUpdate', { data: changes }], sent, done: show };
  });
  const view = new Proxy(content, {
    set(target, name, value) {
      const now = (target as Record<PropertyKey, unknown>)[name];
      if (typeof name === 'symbol' || fixed.has(name) || typeof now === 'function')
        throw new NativeTypeError(`${text(name)} of a content item cannot be changed`);
      const field = jsonValue(name, value, 'field');
      looked.at('request.method');
      if (mayChange) {
        changes[name] = copied(field);
        property(target, name, copied(field));
      } else update({ [name]: field });
      return true;
    },
  });
  addresses.set(view, addresses.get(content) as { type: string; documentId: string | null });
  const update = (data: unknown) => {
    show(records.call('contentUpdate', { data: data as Items }));
    return view;
  };
  property(content, 'update', update, false);
  return view;
}

const copied = (value: Json): Json =>
  typeof value === 'object' && value !== null ? (parse(stringify(value)) as Json) : value;

function property(target: object, name: string, value: unknown, enumerable = true): void {
  Object.defineProperty(target, name, { value, enumerable, configurable: true, writable: false });
}

/** `context.portal` (docs/reference/logic.md#context). */
export function createPortal(data: ContextData['portal'], call: Call): object {
  return {
    ...data,
    absolute_url: () => data.url,
    get: (...args: unknown[]) => getContent(call, args),
    day_begin(...args: unknown[]): string {
      const { day = '', days = 0 } = named(args, ['day', 'days']);
      const given = day instanceof Date ? day.toISOString() : day;
      if (typeof given !== 'string')
        throw new NativeTypeError('day_begin: a day is a text such as 2026-03-01, or a Date');
      if (!Number.isInteger(days)) throw new NativeTypeError('day_begin: days are a whole number');
      return dayBegin(data.time_zone, given === '' ? present() : 0, given, days as number);
    },
  };
}

function present(): number {
  looked.at('clock');
  return Date.now();
}

/** The item at a path of the site that the requester may read, or null. */
function getContent(call: Call, args: unknown[]): object | null {
  const { path } = named(args, ['path']);
  if (path === undefined) throw new NativeTypeError('get: a path is needed');
  const data = call('portalGet', { path: text(path) });
  return data === null ? null : createContent(data as unknown as ContentData, null);
}

/** The requester with the methods that Rapido's apps know; as JSON, its fields. */
function createUser(fields: Items): object {
  const user = { ...fields };
  const methods = {
    is_anonymous: () => false,
    get_current: () => user,
    getProperty: (name: unknown, otherwise: unknown = null) =>
      hasOwn(fields, text(name)) ? fields[text(name)] : otherwise,
    getUserName: () => fields.username ?? null,
    getId: () => fields.username ?? null,
  };
  for (const name of keys(methods)) if (!hasOwn(user, name)) property(user, name, methods[name as 'getId'], false);
  return user;
}

/** `context.api`: the host's content with the requester's permissions. */
export function createApi(user: Items | null, portal: () => object, call: Call): object {
  const documents = (uid: unknown) => {
    const method = (name: string) => (params: unknown) =>
      call('documents', { uid: text(uid), method: name, params: (params ?? {}) as Items });
    return Object.fromEntries(documentMethods.map((name) => [name, method(name)]));
  };
  const made = user && createUser(user);
  return {
    documents,
    get user() {
      looked.at('user');
      return made;
    },
    set user(value) {
      Object.defineProperty(this, 'user', { value, enumerable: true, configurable: true, writable: true });
    },
    content: createContentApi(call),
    portal: { get: portal },
  };
}

/** `context.api.content`: what apps made for Rapido call, over the documents of the host. */
function createContentApi(call: Call): object {
  const adopt = (data: Json) => createContent(data as unknown as ContentData, null);
  return {
    get: (...args: unknown[]) => getContent(call, args),
    find(...args: unknown[]): object[] {
      const {
        portal_type,
        type,
        sort_on,
        sort_order,
        sort_limit,
        context: _at,
        depth: _depth,
        ...filters
      } = namedOrNull(args, []);
      const wanted = portal_type ?? type ?? null;
      if (wanted === null) throw new NativeTypeError('find: a portal_type is needed');
      const down = sort_order === 'descending' || sort_order === 'reverse';
      const field = sort_on ?? null;
      const sort = field === null ? null : `${text(field)}:${down ? 'desc' : 'asc'}`;
      const asked = { type: text(wanted), filters: filters as Items, sort, limit: sort_limit ?? null };
      return (call('contentFind', asked as Items) as Json[]).map(adopt);
    },
    create(...args: unknown[]): object {
      const { type, portal_type, id, container: _in, safe_id: _safe, ...data } = named(args, []);
      if (portal_type === undefined && type === undefined) throw new NativeTypeError('create: a type is needed');
      const wanted = idText(id, 'create') ?? null;
      return adopt(call('contentCreate', { type: text(type ?? portal_type), id: wanted, data: data as Items }));
    },
    transition(...args: unknown[]): void {
      const [first, ...rest] = args;
      const given = addresses.has(first as object)
        ? { obj: first, transition: rest[0] }
        : named(args, ['obj', 'transition']);
      const { obj, transition, to_state } = given as Record<string, unknown>;
      const address = addresses.get(obj as object);
      if (!address || address.documentId === null) throw new NativeTypeError('transition: a content item is needed');
      const { type, documentId } = address;
      call('contentTransition', { type, documentId, transition: text(transition ?? to_state) });
    },
  };
}
