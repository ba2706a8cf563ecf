import type { StoredFile } from './types';

/**
 * Whether an item's value names a file of the media library. Records may come from clients: only an address on the web or of
 * this server is one.
 */
export function isStoredFile(value: unknown): value is StoredFile {
  if (typeof value !== 'object' || value === null) return false;
  const { documentId, url, name, mime, size } = value as Record<string, unknown>;
  return (
    typeof documentId === 'string' &&
    typeof name === 'string' &&
    typeof mime === 'string' &&
    typeof size === 'number' &&
    typeof url === 'string' &&
    /^(?:https?:\/\/|\/(?!\/))/i.test(url)
  );
}

/** The files of an item: one, or a list. */
export function filesIn(value: unknown): StoredFile[] {
  return (Array.isArray(value) ? value : [value]).filter(isStoredFile);
}
