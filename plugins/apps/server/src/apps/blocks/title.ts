import type { Json } from '../../../../shared/json';

/** `{name}`, `{name.key}` or `{name[key]}`. No two parts match the same characters, so that matching takes linear time. */
const PLACEHOLDER = /\{([\w-][\w.-]*)((?:\[[^[\]{}]*\])*)\}/g;

/** Characters of a title. */
const MAX_TITLE = 300;

/**
 * The title of a page (docs/reference/definitions.md#title): plain text, '' if nothing of it has a value.
 * @param value of an element; undefined if it is not declared
 * @param onUndeclared called for such a name
 */
export async function titleText(
  title: string,
  value: (name: string) => Promise<Json | undefined>,
  onUndeclared: (name: string) => void,
): Promise<string> {
  const texts = new Map<string, string>();
  for (const placeholder of title.match(PLACEHOLDER) ?? []) {
    if (texts.has(placeholder)) continue;
    const [name = '', ...keys] = placeholder.slice(1, -1).replaceAll(']', '').split('[');
    const found = await readValue(name, keys, value);
    if (found === undefined) onUndeclared(name);
    texts.set(placeholder, plain(found));
  }
  const whole = title.replace(PLACEHOLDER, (placeholder) => texts.get(placeholder) ?? '');
  return whole.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
}

/** A `.` may be part of a name or come before a key: the longest declared name counts, as in layouts. */
async function readValue(
  name: string,
  keys: readonly string[],
  value: (name: string) => Promise<Json | undefined>,
): Promise<Json | undefined> {
  for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) {
    const found = await value(name.slice(0, end));
    if (found === undefined) continue;
    const rest = end === name.length ? [] : name.slice(end + 1).split('.');
    return [...rest, ...keys].reduce(part, found);
  }
  return undefined;
}

function part(whole: Json, key: string): Json {
  if (typeof whole !== 'object' || whole === null || !Object.hasOwn(whole, key)) return null;
  return (whole as Record<string, Json>)[key] ?? null;
}

function plain(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(plain).filter(Boolean).join(', ');
  return typeof value === 'object' ? '' : String(value).slice(0, MAX_TITLE);
}
