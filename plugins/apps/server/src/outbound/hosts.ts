import { AppsError, isAppsError } from '../common/errors';
import type { FetchConfig } from '../config.types';
import type { Outbound } from './types';

/** A host of the configuration: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const entryPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\\[\]*%]+)(?::\d{1,5})?$/;

/** Host and port of an address: `api.example.org:443`. Names are in lower case and ASCII, IP addresses in their usual form. */
export function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
}

/**
 * A host of the configuration, as `hostOf` writes it; without a port it has 443. Null for text that is none: with a wildcard, a
 * path, a dot at its end.
 */
export function readHost(entry: string): string | null {
  const address = `https://${entry}/`;
  if (!entryPattern.test(entry) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return url.hostname.endsWith('.') || url.port === '0' ? null : hostOf(url);
}

/** Which hosts an app may call, and which of them may be at private addresses. */
export interface Hosts {
  /**
   * ForbiddenError, which names the key, when the app may not call the address.
   * @param isRedirect the address is the host's answer, which the message does not repeat
   */
  require(appId: string, url: URL, isRedirect: boolean): void;
  isPrivate(url: URL): boolean;
}

export function createHosts({ hosts, private: privateHosts }: Pick<FetchConfig, 'hosts' | 'private'>): Hosts {
  const ofAll = new Set(hosts['*']);
  const privates = new Set(privateHosts);
  const isNamed = (appId: string, host: string) =>
    ofAll.has(host) || (appId !== '*' && Object.hasOwn(hosts, appId) && hosts[appId]?.includes(host) === true);
  return {
    require(appId, url, isRedirect) {
      const host = hostOf(url);
      const shown = isRedirect ? 'the host that the answer redirects to' : `"${host}"`;
      if (!isNamed(appId, host)) throw refusal(`fetch.hosts.${appId}`, `does not name ${shown}`);
      if (url.protocol === 'http:' && !privates.has(host))
        throw refusal('fetch.private', `does not name ${shown}: only hosts that it names are called by plain http`);
    },
    isPrivate: (url) => privates.has(hostOf(url)),
  };
}

/** The refusal of a call. @param key of the plugin's configuration  @param why what the key lacks; never an address that was found */
export function refusal(key: string, why: string): AppsError {
  return new AppsError('ForbiddenError', `The configuration "${key}" ${why}`, { isOfLogic: true });
}

/** What a connection's error means for the author of an app, by its code. */
const reasons: Record<string, string> = {
  ENOTFOUND: 'its name has no address',
  EAI_AGAIN: 'its name could not be resolved',
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'it cannot be reached',
  ENETUNREACH: 'it cannot be reached',
  UND_ERR_SOCKET: 'it closed the connection',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of its answer are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'its answer is not whole',
};

const timeouts: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** The 504 of a call that took too long. */
export function tookTooLong(timeout: number): AppsError {
  return new AppsError('GatewayTimeoutError', `The call out took longer than ${timeout} ms`);
}

/** The 502 of a call whose host does not answer well. */
export function badGateway(why: string): AppsError {
  return new AppsError('BadGatewayError', `The host that was called did not answer well: ${why}`);
}

/**
 * The AppsError for what a connection has thrown. The error itself is dropped: its text has addresses, and its data may have
 * parts of the answer.
 */
export function failureOf(error: unknown, timeout: number): AppsError {
  if (isAppsError(error)) return error;
  const code = codeOf(error);
  if (timeouts.has(code)) return tookTooLong(timeout);
  return badGateway(reasons[code] ?? (code === '' ? 'the connection failed' : `the connection failed (${code})`));
}

/** `CERT_HAS_EXPIRED`, `HPE_INVALID_CONSTANT`; '' for anything longer than a name. */
function codeOf(error: unknown): string {
  const [inner] = error instanceof AggregateError ? error.errors : [error];
  const { code } = Object(inner) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : '';
}

/** How a host may write a secret that it was sent, when it repeats it: those forms are hidden. */

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string, apostrophe: string) =>
  text.replace(/[&<>"']/g, (character) => (character === "'" ? apostrophe : (escapes[character] as string)));

const percent = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const lowerPercent = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/**
 * The characters of a base64 text that stand for the value alone, wherever it begins in what was encoded: with `before` bytes
 * in front of it, as a name and a colon are in front of a password.
 */
function base64Core(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_');

/** The encodings of a value, without duplicates: plain text, JSON, URL and form encoding, HTML, hexadecimal and base64. */
function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const addresses = [encodeURIComponent(value), percent(value)];
  const hex = Buffer.from(value).toString('hex');
  const base64 = [0, 1, 2].map((before) => base64Core(value, before));
  const all = [
    value,
    json,
    json.replaceAll('/', '\\/'),
    ...[...addresses, ...addresses.map((text) => text.replaceAll('%20', '+'))].flatMap((text) => [
      text,
      lowerPercent(text),
    ]),
    escaped(value, '&#39;'),
    escaped(value, '&#x27;'),
    escaped(value, '&apos;'),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map(urlSafe),
  ];
  return [...new Set(all)];
}

/** Stands for a secret in what logic sees. */
const HIDDEN = '(hidden)';

const placeholder = /\{\{secret:([A-Za-z0-9_-]{1,100})\}\}/g;

/** How a value is written where it is put in. */
type Encode = (value: string) => string;

/** Secrets of the configuration: put into what is sent, and hidden in what comes back. */
export interface Secrets {
  /** As `Outbound.secret`. */
  get(name: string): string | null;
  /**
   * The text with the values of its placeholders. ForbiddenError, which names the key, for one that is not configured, has no
   * value, or is not for the host.
   * @param host as `hostOf` writes it
   */
  fill(text: string, host: string, encode: Encode): string;
  /** Makes a function that hides the secrets of these hosts in a text (docs/reference/calls-out.md#secrets). */
  hider(hosts: ReadonlySet<string>): (text: string) => string;
}

/** Whether a text has a placeholder, or what begins like one. */
export const namesSecret = (text: string): boolean => text.includes('{{secret:');

export function createSecrets(configured: FetchConfig['secrets']): Secrets {
  const known = new Map(Object.entries(configured));
  const forms = new Map([...known].map(([name, { value }]) => [name, value === '' ? [] : formsOf(value)]));
  const get = (name: string): string | null => {
    const secret = known.get(name);
    if (!secret) return null;
    if (secret.value === '') throw refusal(`fetch.secrets.${name}.value`, 'is empty');
    return secret.value;
  };
  return {
    get,
    fill: (text, host, encode) =>
      text.replace(placeholder, (_all, name: string) => {
        const value = get(name);
        if (value === null) throw refusal(`fetch.secrets.${name}`, 'is missing');
        if (!known.get(name)?.hosts.includes(host))
          throw refusal(`fetch.secrets.${name}.hosts`, 'does not name the host that is called');
        return encode(value);
      }),
    hider(hosts) {
      const own = [...known].filter(([, secret]) => secret.hosts.some((host) => hosts.has(host)));
      const all = own.flatMap(([name]) => forms.get(name) ?? []).sort((a, b) => b.length - a.length);
      return (text) => all.reduce((hidden, form) => hidden.replaceAll(form, HIDDEN), text);
    },
  };
}

/** How secrets are written in a body of this media type, so that they cannot end the string that they stand in. */
export function bodyEncoding(type = ''): Encode {
  const media = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (media === 'application/x-www-form-urlencoded') return encodeURIComponent;
  return /[/+]json$/.test(media) ? (value) => JSON.stringify(value).slice(1, -1) : (value) => value;
}

/** The value of a secret; null for one that is missing or empty. */
export function secretOf(outbound: Pick<Outbound, 'secret'>, name: string): string | null {
  try {
    return outbound.secret(name);
  } catch (error) {
    if (isAppsError(error, 'ForbiddenError')) return null;
    throw error;
  }
}
