import type { Json } from '../../../shared/json';
import type { StoredFile } from './types';

/**
 * Whether an item's value names a file of the media library. Records may come from clients: only an address on the web or of
 * this server is one.
 */
export function isStoredFile(value: unknown): value is StoredFile {
  if (typeof value !== 'object' || value === null) return false;
  const { documentId } = value as Record<string, unknown>;
  if (typeof documentId !== 'string') return false;
  const { url, name, mime, size } = value as Record<string, unknown>;
  return (
    typeof name === 'string' &&
    typeof mime === 'string' &&
    typeof size === 'number' &&
    typeof url === 'string' &&
    /^(?:https?:\/\/|\/(?!\/))/i.test(url)
  );
}

/**
 * Calls `visit` for each file that a value names, at any depth of lists and objects; those of less depth first. Each write looks
 * through all items of its record: names are read in a loop, because `Object.values` costs five times as much.
 */
export function eachFile(value: unknown, visit: (file: StoredFile) => void): void {
  const open: object[] = [];
  const add = (one: unknown) => {
    if (typeof one === 'object' && one !== null) open.push(one);
  };
  add(value);
  for (const one of open) {
    if (isStoredFile(one)) visit(one);
    if (Array.isArray(one)) one.forEach(add);
    else for (const name in one) if (Object.hasOwn(one, name)) add((one as Record<string, unknown>)[name]);
  }
}

/** The document ids of the files that a value names. */
export function documentIdsIn(value: unknown): string[] {
  const found: string[] = [];
  eachFile(value, ({ documentId }) => found.push(documentId));
  return found;
}

/** A value without files that are not `kept`: an item or a field is left out, a list has the others. Undefined: nothing is left. */
export function withoutOthers(value: Json, kept: ReadonlySet<string>): Json | undefined {
  if (isStoredFile(value)) return kept.has(value.documentId) ? value : undefined;
  if (Array.isArray(value))
    return value.map((one) => withoutOthers(one, kept)).filter((one): one is Json => one !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  const left = Object.entries(value).map(([name, one]): [string, Json | undefined] => [name, withoutOthers(one, kept)]);
  return Object.fromEntries(left.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** The files of an item: one, or a list. */
export function filesIn(value: unknown): StoredFile[] {
  return (Array.isArray(value) ? value : [value]).filter(isStoredFile);
}
