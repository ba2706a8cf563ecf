import type { ContentData, ContextData } from '../../../server/src/logic/types';
import type { Items, Json } from '../../../shared/json';
import { named } from './arguments';
import { hasOwn, keys, NativeTypeError, text } from './primordials';

type Call = (name: string, args: Items) => Json;

/**
 * A content item of the host: its fields as properties, `update(data)` for the current one. Fields are read only here,
 * so that nobody believes an assignment to be stored.
 */
export function createContent(data: ContentData, call: Call | null): object {
  const content = {};
  const show = (now: ContentData) => {
    const { fields, ...rest } = now;
    for (const name of keys(fields)) property(content, name, fields[name]);
    for (const name of keys(rest)) property(content, name, rest[name as keyof typeof rest]);
    property(content, 'absolute_url', () => now.url, false);
    property(content, 'absolute_url_path', () => now.path, false);
  };
  show(data);
  if (call) {
    const update = (changes: unknown) => {
      show(call('contentUpdate', { data: changes as Items }) as unknown as ContentData);
      return content;
    };
    property(content, 'update', update, false);
  }
  return content;
}

function property(target: object, name: string, value: unknown, enumerable = true): void {
  Object.defineProperty(target, name, { value, enumerable, configurable: true, writable: false });
}

export function createPortal(data: ContextData['portal'], call: Call): object {
  return { ...data, absolute_url: () => data.url, get: (...args: unknown[]) => getContent(call, args) };
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

const documentMethods = [
  'findMany',
  'findFirst',
  'findOne',
  'count',
  'create',
  'update',
  'delete',
  'publish',
  'unpublish',
  'discardDraft',
];

/** `context.api`: the host's content with the requester's permissions. */
export function createApi(user: Items | null, call: Call): object {
  const documents = (uid: unknown) => {
    const method = (name: string) => (params: unknown) =>
      call('documents', { uid: text(uid), method: name, params: (params ?? {}) as Items });
    return Object.fromEntries(documentMethods.map((name) => [name, method(name)]));
  };
  return {
    documents,
    user: user && createUser(user),
    content: { get: (...args: unknown[]) => getContent(call, args) },
  };
}
