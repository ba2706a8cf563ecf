const ID = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const notIds = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a text can name a site, theme, app, block, element or view (contract, section 1). */
export function isId(text: string): boolean {
  return ID.test(text) && !text.includes('..') && !notIds.has(text);
}

/** What follows `@@` in an address of the plugin's own, so that no view can have its name. */
export const reservedViews: ReadonlySet<string> = new Set(['apps', 'theme', 'login', 'logout', 'apps.js']);

/** Longest record id, in characters. */
const MAX_RECORD_ID = 255;

/** Why a text cannot be a record's id (contract, section 3), or null if it can. */
export function recordIdProblem(id: string): string | null {
  if (id === '') return 'A record id must not be empty';
  // More code units than twice the characters cannot fit: spares counting a very long text.
  if (id.length > 2 * MAX_RECORD_ID || [...id].length > MAX_RECORD_ID) {
    return `A record id has at most ${MAX_RECORD_ID} characters`;
  }
  return /\p{Cc}/u.test(id) ? 'A record id must not contain control characters' : null;
}

/** A text without the slashes at its ends; unlike a pattern for them, in one look at each character. */
export function trimSlashes(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === '/') start += 1;
  while (end > start && text[end - 1] === '/') end -= 1;
  return text.slice(start, end);
}
