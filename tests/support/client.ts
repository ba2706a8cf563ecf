import type { Host } from './host';

/** How a client proves who it is. */
export type Credential =
  | { bearer: string }
  | { basic: [username: string, password: string] }
  | { cookie: string }
  | null;

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form. */
  form?: Record<string, string>;
  /** Sent as it is. */
  body?: string;
  /** False leaves the CSRF token out. */
  csrf?: boolean;
}

export interface Reply<T = unknown> {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body, undefined when it is not JSON. */
  json: T;
}

/** The `Authorization` or `Cookie` header of a credential; Basic joined by a dot, as the interface says. */
export function credentialHeaders(credential: Credential): Record<string, string> {
  if (!credential) return {};
  if ('bearer' in credential) return { authorization: `Bearer ${credential.bearer}` };
  if ('cookie' in credential) return { cookie: credential.cookie };
  return { authorization: `Basic ${Buffer.from(credential.basic.join('.')).toString('base64')}` };
}

function payload({ json, form, body }: RequestOptions): { type?: string; body?: string } {
  if (json !== undefined) return { type: 'application/json', body: JSON.stringify(json) };
  if (form) return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
  return { body };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A REST client of one app: fetches a CSRF token of its own identity before its first write, follows no redirects.
 * Paths are below `/<site>/@@apps/<app>`; one that starts with `/` is below the host.
 */
export function createClient(
  host: Pick<Host, 'url'>,
  {
    app,
    site = 'site',
    as: credential = null as Credential,
  }: {
    app: string;
    site?: string;
    as?: Credential;
  },
) {
  const root = `${host.url}/${site}/@@apps/${app}`;
  let token: Promise<string> | undefined;

  const csrfToken = () => {
    token ??= fetch(root, { headers: { accept: 'application/json', ...credentialHeaders(credential) } }).then(
      (response) => response.headers.get('x-csrf-token') ?? '',
    );
    return token;
  };

  async function request<T = unknown>(method: string, path = '', options: RequestOptions = {}): Promise<Reply<T>> {
    const url = path.startsWith('/') ? `${host.url}${path}` : path ? `${root}/${path}` : root;
    const { type, body } = payload(options);
    const writes = !['GET', 'HEAD', 'OPTIONS'].includes(method);
    const headers: Record<string, string> = { accept: 'application/json', ...credentialHeaders(credential) };
    if (type) headers['content-type'] = type;
    if (writes && options.csrf !== false) headers['x-csrf-token'] = await csrfToken();
    const response = await fetch(url, {
      method,
      body,
      redirect: 'manual',
      headers: { ...headers, ...options.headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) as T };
  }

  return {
    root,
    csrfToken,
    request,
    get: <T = unknown>(path?: string, options?: RequestOptions) => request<T>('GET', path, options),
    post: <T = unknown>(path: string, json: unknown, options?: RequestOptions) =>
      request<T>('POST', path, { json, ...options }),
    put: <T = unknown>(path: string, json: unknown, options?: RequestOptions) =>
      request<T>('PUT', path, { json, ...options }),
    patch: <T = unknown>(path: string, json: unknown, options?: RequestOptions) =>
      request<T>('PATCH', path, { json, ...options }),
    delete: <T = unknown>(path: string, options?: RequestOptions) => request<T>('DELETE', path, options),
  };
}
