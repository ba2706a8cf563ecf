/** What a context and the runner say to each other instead of JSON text, and which errors mean that a context is to blame. */

/** Logic waits for a promise: another function of the context has the text, once no microtask is left. */
export const later = 'P';

/** Logic has failed with an error that may be due to its context, which serves several sessions (`isRefusal`). */
export const again = 'R';

/**
 * The runner's answer to a host call when the session's time is over; the sandbox answers with the same letter, followed by
 * its stack.
 */
export const timeIsOver = 'T';

/** The first letter of Python's question whether its time is over: the answer is the milliseconds that are left, or `timeIsOver`. */
export const askTime = 'W';

/**
 * Errors with which the engine refuses a change of what a reused context shares, and our own where one asks for the last match of a
 * regular expression. A program that fails with one of them may work in a context of its own (docs/decisions/reused-contexts.md).
 */
const refusal =
  /^Cannot (?:add|define|delete|redefine) property\b|^Cannot assign to read only property |is not extensible$|on proxy: trap returned falsish|^RegExp's last match is not available/;

export const lastMatchMessage = "RegExp's last match is not available: use what exec, match or matchAll return";

export const isRefusal = (message: string): boolean => refusal.test(message);
