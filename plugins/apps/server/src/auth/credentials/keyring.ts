import { createHmac, timingSafeEqual } from 'node:crypto';

/** Keyed hashes under Strapi's `app.keys`: the first key signs, every key verifies, so that keys can be rotated. */
export interface Keyring {
  /** HMAC-SHA256 of the parts, base64url. Parts are encoded as a JSON list, so that no two lists look alike. */
  sign(parts: readonly (string | number)[]): string;
  /** Whether `mac` is valid for the parts under any key, in constant time. */
  verify(parts: readonly (string | number)[], mac: string): boolean;
  /** What `sign` gives under each key, that of today first: of what was stored under an earlier one. */
  all(parts: readonly (string | number)[]): string[];
}

/** Makes a keyring of `server.app.keys`. Throws when there is no usable key: nothing may be signed with an empty one. */
export function createKeyring(keys: unknown): Keyring {
  const usable = (Array.isArray(keys) ? keys : [keys]).filter(
    (key): key is string => typeof key === 'string' && key !== '',
  );
  const [first] = usable;
  if (first === undefined) throw new Error('server.app.keys is missing: the apps plugin signs its tokens with it.');
  const digest = (key: string, parts: readonly (string | number)[]): Buffer =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest();

  return {
    sign: (parts) => digest(first, parts).toString('base64url'),
    all: (parts) => usable.map((key) => digest(key, parts).toString('base64url')),
    verify(parts, mac) {
      const given = Buffer.from(mac, 'base64url');
      let matches = false;
      for (const key of usable) {
        const expected = digest(key, parts);
        if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;
      }
      return matches;
    },
  };
}
