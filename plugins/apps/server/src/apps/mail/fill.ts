import type { Json } from '../../../../shared/json';

/** Characters that one value may add. */
const MAX_VALUE = 1_000;

/**
 * Replaces each `{name}` of a text by a value: of a list its entries, '' for what does not exist. The result is one line
 * without control characters, because it becomes a header of a mail.
 */
export function filledLine(text: string, lookUp: (name: string) => Json | undefined): string {
  const filled = text.replace(/\{([^{}]{1,200})\}/g, (_, name: string) =>
    shown(lookUp(name.trim())).slice(0, MAX_VALUE),
  );
  return filled.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** A value as people read it. */
export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
