import { AppsError, isAppsError } from '../common/errors';
import type { FetchConfig } from '../config.types';

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
