/**
 * Errors with which the engine refuses a change of what a reused context shares, and our own where one asks for the last match of a
 * regular expression. A program that fails with one of them may work in a context of its own (docs/decisions/reused-contexts.md).
 */
const refusal =
  /^Cannot (?:add|define|delete|redefine) property\b|^Cannot assign to read only property |is not extensible$|on proxy: trap returned falsish|^RegExp's last match is not available/;

export const lastMatchMessage = "RegExp's last match is not available: use what exec, match or matchAll return";

export const isRefusal = (message: string): boolean => refusal.test(message);
