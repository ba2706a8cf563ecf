/** Codes and names of errors by which the drivers, the pool and the servers say that no connection is to be had. */
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
  'KnexTimeoutError',
  'AbortError',
]);

/** What drivers say without a code when a connection ends under a request. */
const messages =
  /connection terminated|connection error and is not queryable|connection (is )?in closed state|connection lost|connection (was )?closed|connection ended|server closed the connection|unable to acquire a connection|transaction query already complete|^aborted$/i;

/** PostgreSQL: connection exceptions, insufficient resources, operator intervention. */
const sqlStates = /^(08|53|57P)/;

/** Whether an error, or what caused it, says that the database, or a free connection to it, could not be reached. */
export function isUnavailable(error: unknown): boolean {
  const { code, name, message, cause } = (error ?? {}) as Record<string, unknown>;
  if (codes.has(String(code)) || codes.has(String(name)) || messages.test(String(message))) return true;
  if (typeof code === 'string' && code.length === 5 && sqlStates.test(code)) return true;
  return cause !== undefined && cause !== error && isUnavailable(cause);
}
