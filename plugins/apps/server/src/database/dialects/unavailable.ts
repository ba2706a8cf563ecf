/** Codes and names of errors with which drivers, the pool and servers report that there is no connection. */
const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  // A server that is no primary, or no longer.
  'ER_OPTION_PREVENTS_STATEMENT',
  'KnexTimeoutError',
  'AbortError',
]);

/** Messages of drivers, without a code, when a connection ends during a request. */
const messages =
  /connection terminated|connection error and is not queryable|connection (is )?in closed state|connection lost|connection (was )?closed|connection ended|server closed the connection|unable to acquire a connection|transaction query already complete|^aborted$/i;

/** PostgreSQL: connection exceptions, insufficient resources, operator intervention, a server that is no primary. */
const sqlStates = /^(08|53|57P|25006)/;

/** Whether an error is SQLite's while another process writes, or moves the log: it passes. */
export const isBusy = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_BUSY');

/** Whether an error or its cause means that the database cannot be reached or has no free connection. */
export function isUnavailable(error: unknown): boolean {
  const { code, name, message, cause } = (error ?? {}) as Record<string, unknown>;
  if (codes.has(String(code)) || codes.has(String(name)) || messages.test(String(message))) return true;
  if (typeof code === 'string' && code.length === 5 && sqlStates.test(code)) return true;
  return cause !== undefined && cause !== error && isUnavailable(cause);
}
