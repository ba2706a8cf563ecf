/** Words for no and yes, as forms, JSON and imported records have them: fields that are boxes, and conditions on them, read the same. */
export const NO_WORDS: ReadonlySet<string> = new Set(['', '0', 'false', 'off', 'no']);
export const YES_WORDS: ReadonlySet<string> = new Set(['1', 'true', 'on', 'yes']);

export const wordOf = (text: string): string => text.trim().toLowerCase();

/** The text that a box sends for a stored value: what was imported may be `TRUE`, `1` or `yes`. */
export const truthText = (value: unknown): '' | '1' =>
  typeof value !== 'object' && YES_WORDS.has(wordOf(String(value))) ? '1' : '';
