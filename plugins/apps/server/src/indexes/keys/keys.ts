import { createHash } from 'node:crypto';
import type { Json } from '../../../../shared/json';

/** A value that a field index orders: any other counts as missing (docs/reference/search.md#order). */
export type Scalar = boolean | number | string | null;

/** An order-preserving binary key: the order of the bytes is the order of docs/reference/search.md#order. */
export interface Key {
  bytes: Buffer;
  /** All bytes of a string too long for a key, to compare rows with equal keys. */
  long: Buffer | null;
}

export type KeyType = 'boolean' | 'number' | 'string';

const tags: Record<KeyType, number> = { boolean: 0x10, number: 0x20, string: 0x30 };

/** The key of null, missing values, lists and objects, after all others. */
export const missingKey: Buffer = Buffer.from([0xff]);

/** The term that distinguishes the entry of a list or object in a field index from null and missing. */
export const unorderedTerm: Buffer = Buffer.from([0xfe]);

/** Bytes of a key, its tag included. A key of exactly this length is the beginning of a longer string. */
export const keySize = 255;

/** Half-open range of the keys of a type. */
export function typeRange(type: KeyType): [Buffer, Buffer] {
  return [Buffer.from([tags[type]]), Buffer.from([tags[type] + 1])];
}

/** The key of a value; lists, objects, null and undefined have the key of a missing value. */
export function encodeKey(value: Json | undefined): Key {
  if (typeof value === 'boolean') return { bytes: Buffer.from([tags.boolean, value ? 1 : 0]), long: null };
  if (typeof value === 'number') return { bytes: encodeNumber(value), long: null };
  if (typeof value === 'string') return encodeString(value);
  return { bytes: missingKey, long: null };
}

/** A term for exact membership only: long strings are cut and distinguished by a digest. */
export function encodeTerm(value: boolean | number | string): Buffer {
  const { bytes, long } = encodeKey(value);
  if (!long) return bytes;
  return Buffer.concat([bytes.subarray(0, keySize - 32), createHash('sha256').update(long).digest()]);
}

/** Bytes that order as the code points do (UTF-8; lone surrogates as if they were characters). */
export function encodeText(text: string): Buffer {
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text, 'utf8');
  return Buffer.concat(Array.from(text, (character) => encodeCharacter(character)));
}

function encodeCharacter(character: string): Buffer {
  const code = character.codePointAt(0) as number;
  if (code < 0xd800 || code > 0xdfff) return Buffer.from(character, 'utf8');
  return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
}

function encodeString(value: string): Key {
  const text = encodeText(value);
  const bytes = Buffer.concat([Buffer.from([tags.string]), text.subarray(0, keySize - 1)]);
  return { bytes, long: bytes.length === keySize ? text : null };
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = tags.number;
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1);
  // Makes the bytes of doubles sortable: sets the sign bit of positive numbers, flips all bits of negative ones.
  if ((bytes[1] ?? 0) & 0x80) for (let at = 1; at < 9; at++) bytes[at] = ~(bytes[at] ?? 0) & 0xff;
  else bytes[1] = (bytes[1] ?? 0) | 0x80;
  return bytes;
}
