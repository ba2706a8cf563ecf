import { makeTextDecoder, makeTextEncoder } from './text-coding';

export type Pair = [name: string, value: string];

interface Encoder {
  encode(text: string): Uint8Array;
}

/** `application/x-www-form-urlencoded` as the URL Standard has it. */
interface FormCoding {
  /** The pairs of a query without its `?`. */
  parse(text: string): Pair[];
  format(pairs: readonly Pair[]): string;
}

export function makeFormCoding(): FormCoding {
  const encoder = new (makeTextEncoder() as new () => Encoder)();
  const [encode, decode] = [percentEncode(encoder), percentDecode(encoder)];
  return {
    parse: (text) =>
      text
        .split('&')
        .filter((part) => part !== '')
        .map((part) => {
          const at = part.indexOf('=');
          return at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
        }),
    format: (pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&'),
  };
}

function percentEncode(encoder: Encoder): (text: string) => string {
  return (text) => {
    if (/^[A-Za-z0-9*._-]*$/.test(text)) return text;
    let result = '';
    for (const byte of encoder.encode(text)) {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9*._-]/.test(character)) result += character;
      else result += byte === 0x20 ? '+' : `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
    }
    return result;
  };
}

function percentDecode(encoder: Encoder): (text: string) => string {
  const Decoder = makeTextDecoder() as new (...args: unknown[]) => { decode(bytes: Uint8Array): string };
  const decoder = new Decoder('utf-8', { ignoreBOM: true });
  return (text) => {
    const spaced = text.replaceAll('+', ' ');
    if (!spaced.includes('%')) return wellFormed(spaced);
    const given = encoder.encode(spaced);
    const bytes = new Uint8Array(given.length);
    let size = 0;
    for (let index = 0; index < given.length; index += 1) {
      const value = given[index] === 0x25 ? hexAt(given, index + 1) : -1;
      bytes[size++] = value < 0 ? (given[index] as number) : value;
      if (value >= 0) index += 2;
    }
    return decoder.decode(bytes.subarray(0, size));
  };
}

/** Lone surrogates become U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** The byte that two hexadecimal digits give; -1 if they are none. */
function hexAt(bytes: Uint8Array, index: number): number {
  const digits = String.fromCharCode(bytes[index] ?? 0, bytes[index + 1] ?? 0);
  return /^[0-9A-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}
