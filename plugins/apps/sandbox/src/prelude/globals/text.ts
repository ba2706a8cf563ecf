import { NativeError } from '../primordials';

export interface Base64 {
  atob(text: unknown): string;
  btoa(text: unknown): string;
  /** Bytes of base64 that the runner has sent. */
  bytesOf(base64: string): Uint8Array;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Code units given to one `String.fromCharCode` call: well below what fits on the stack. */
const CHUNK = 8192;

/** `atob` and `btoa` as in browsers. */
export function makeBase64(): Base64 {
  const values = new Int16Array(128).fill(-1);
  for (let index = 0; index < 64; index += 1) values[alphabet.charCodeAt(index)] = index;

  /** The bytes; null for text that is not base64. */
  const decode = (text: string): Uint8Array | null => {
    if (text.length % 4 === 1) return null;
    const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
    let [bits, count, at] = [0, 0, 0];
    for (let index = 0; index < text.length; index += 1) {
      const value = values[text.charCodeAt(index)] ?? -1;
      if (value < 0) return null;
      bits = ((bits << 6) | value) & 0xffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      bytes[at++] = (bits >> count) & 0xff;
    }
    return bytes;
  };

  return {
    bytesOf: (base64) => decode(base64.replace(/=+$/, '')) ?? new Uint8Array(0),
    atob(text) {
      const given = String(text).replace(/[\t\n\f\r ]+/g, '');
      const bytes = decode(given.length % 4 === 0 ? given.replace(/={1,2}$/, '') : given);
      if (!bytes) throw invalidCharacter('atob: the text is not base64');
      let result = '';
      for (let start = 0; start < bytes.length; start += CHUNK)
        result += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
      return result;
    },
    btoa(text) {
      const given = String(text);
      let result = '';
      for (let index = 0; index < given.length; index += 3) {
        const units = [given.charCodeAt(index), given.charCodeAt(index + 1), given.charCodeAt(index + 2)];
        if (units.some((unit) => unit > 255)) throw invalidCharacter('btoa: a character is not Latin-1');
        const [a = 0, b = 0, c = 0] = units;
        result += `${alphabet[a >> 2]}${alphabet[((a & 3) << 4) | (b >> 4)]}`;
        result += Number.isNaN(b) ? '=' : alphabet[((b & 15) << 2) | (c >> 6)];
        result += Number.isNaN(c) ? '=' : alphabet[c & 63];
      }
      return result;
    },
  };
}

function invalidCharacter(message: string): Error {
  const error = new NativeError(message);
  return Object.defineProperty(error, 'name', { value: 'InvalidCharacterError', configurable: true });
}
