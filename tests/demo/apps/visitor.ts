import type { Host } from '../../support/host';
import { type Answer, locationOf, type Message, send } from '../../support/send';

/** Names and passwords as the first start prints them. */
export function printedPasswords(host: Host): Record<string, string> {
  const lines = host.output().matchAll(/^ {2}([\w@.]+) +(\w+-\w+-1) +\w/gm);
  return Object.fromEntries([...lines].map(([, name, password]) => [name, password]));
}

/**
 * A visitor of one app, at the site's root or at a content item; without a name, an anonymous one. Its writes carry the
 * CSRF token of its own identity. Paths are below the app, or below the host with a leading slash.
 */
export function visitor(host: Host, app: string, name: string | null, content = '') {
  const root = `/site${content}/@@apps/${app}`;
  const as = name === null ? null : { basic: [name, printedPasswords(host)[name] ?? ''] as [string, string] };
  const json = { accept: 'application/json' };
  let token: Promise<string> | undefined;
  const csrf = () => {
    token ??= send(host.url, { method: 'GET', path: root, as, headers: json }).then(({ headers }) =>
      String(headers['x-csrf-token'] ?? ''),
    );
    return token;
  };
  const ask = async <T>(method: string, path: string, { headers, ...body }: Partial<Message> = {}) => {
    const address = path.startsWith('/') ? path : path ? `${root}/${path}` : root;
    const own: Record<string, string> = method === 'GET' ? {} : { 'x-csrf-token': await csrf() };
    return send<T>(host.url, { method, path: address, as, headers: { ...json, ...own, ...headers }, ...body });
  };
  const page = { accept: 'text/html' };
  return {
    get: <T = unknown>(path = '') => ask<T>('GET', path),
    post: (path: string, items: unknown) => ask('POST', path, { json: items }),
    put: (path: string, items: unknown) => ask('PUT', path, { json: items }),
    patch: (path: string, items: unknown) => ask('PATCH', path, { json: items }),
    /** Opens a page. */
    open: (path: string) => ask('GET', path, { headers: page }),
    /** Sends a form. */
    submit: (path: string, form: Record<string, string>) => ask('POST', path, { form, headers: page }),
  };
}

export const pathOf = (url: unknown): string => new URL(String(url)).pathname;

/** Path and query of an answer's `Location`. */
export function location(answer: Answer): string {
  const { pathname, search } = locationOf(answer);
  return pathname + search;
}
