import { AppsError, isAppsError } from '../common/errors';

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
