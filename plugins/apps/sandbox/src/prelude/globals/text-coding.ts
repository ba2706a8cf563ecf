import { encodeInto } from '../../python/utf8';
import { NativeRangeError, NativeTypeError } from '../primordials';

const REPLACEMENT = '\ufffd';

/** Code units that are made to text at once: well below what fits on the stack. */
const CHUNK = 8192;

export function makeTextEncoder(): unknown {
  return class TextEncoder {
    get encoding(): string {
      return 'utf-8';
    }

    encode(input: unknown = ''): Uint8Array {
      const text = String(input);
      const bytes = new Uint8Array(text.length * 3);
      return bytes.slice(0, encodeInto(text, bytes, 0));
    }

    encodeInto(input: unknown, target: Uint8Array): { read: number; written: number } {
      const text = String(input);
      const bytes = new Uint8Array(4);
      let [read, written] = [0, 0];
      while (read < text.length) {
        const character = String.fromCodePoint(text.codePointAt(read) as number);
        const size = encodeInto(character, bytes, 0);
        if (written + size > target.length) break;
        target.set(bytes.subarray(0, size), written);
        read += character.length;
        written += size;
      }
      return { read, written };
    }
  };
}

/** Names of UTF-8, the only encoding. */
export const labels = ['utf-8', 'utf8', 'unicode-1-1-utf-8'];

export function makeTextDecoder(): unknown {
  return class TextDecoder {
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    /** The beginning of a character of which the rest has not come yet. */
    #rest: Uint8Array = new Uint8Array(0);
    #begun = false;

    constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      if (!labels.includes(String(label).trim().toLowerCase()))
        throw new NativeRangeError(`TextDecoder: only utf-8 is here, not ${String(label)}`);
      this.fatal = Boolean(options?.fatal);
      this.ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding(): string {
      return 'utf-8';
    }

    decode(input?: unknown, { stream = false }: { stream?: boolean } = {}): string {
      const bytes = joined(this.#rest, bytesOf(input));
      const { text, read } = decodeUtf8(bytes, this.fatal, stream);
      this.#rest = bytes.slice(read);
      const bom = !this.#begun && !this.ignoreBOM && text[0] === '\ufeff';
      this.#begun = stream && (this.#begun || text !== '');
      return bom ? text.slice(1) : text;
    }
  };
}

function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new NativeTypeError('decode: an ArrayBuffer or a view of one is needed');
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Decodes as the Encoding Standard says. @param stream leaves a character that is cut at the end */
function decodeUtf8(bytes: Uint8Array, fatal: boolean, stream: boolean): { text: string; read: number } {
  let text = '';
  let units: number[] = [];
  let index = 0;
  while (index < bytes.length) {
    const { point, size, cut } = nextPoint(bytes, index);
    if (cut && stream) break;
    if (point < 0 && fatal) throw new NativeTypeError('decode: the bytes are not UTF-8');
    index += size;
    if (point < 0) units.push(REPLACEMENT.charCodeAt(0));
    else if (point < 0x10000) units.push(point);
    else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    if (units.length < CHUNK) continue;
    text += String.fromCharCode(...units);
    units = [];
  }
  return { text: text + String.fromCharCode(...units), read: index };
}

/** The character at `index`: -1 for bytes that are none; `cut`: it could be one if there were more bytes. */
function nextPoint(bytes: Uint8Array, index: number): { point: number; size: number; cut: boolean } {
  const first = bytes[index] as number;
  if (first < 0x80) return { point: first, size: 1, cut: false };
  const needed = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
  let point = first & (0x3f >> needed);
  // The second byte's range keeps out long forms, surrogates and what is above U+10FFFF.
  let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let offset = 1; offset <= needed; offset += 1) {
    const next = bytes[index + offset];
    if (next === undefined) return { point: -1, size: offset, cut: true };
    if (next < low || next > high) return { point: -1, size: offset, cut: false };
    point = (point << 6) | (next & 0x3f);
    [low, high] = [0x80, 0xbf];
  }
  return { point: needed === 0 ? -1 : point, size: needed + 1, cut: false };
}
