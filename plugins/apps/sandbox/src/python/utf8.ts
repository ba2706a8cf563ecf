/** Isolates have neither TextEncoder nor TextDecoder but what the prelude of JavaScript makes with this. */

/** Code units given to one `String.fromCharCode` call: well below what fits on the stack. */
const chunk = 8192;

/** The bytes as text; bytes that are not UTF-8 give U+FFFD. */
export function decode(bytes: Uint8Array): string {
  let result = '';
  let units: number[] = [];
  for (let index = 0; index < bytes.length; ) {
    const first = bytes[index] ?? 0;
    const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    const point = length === 1 ? first : length === 0 ? -1 : join(bytes, index, length);
    index += point < 0 ? 1 : length;
    if (point < 0) units.push(0xfffd);
    else if (point < 0x10000) units.push(point);
    else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    if (units.length >= chunk) {
      result += String.fromCharCode(...units);
      units = [];
    }
  }
  return result + String.fromCharCode(...units);
}

/** The code point of a sequence of several bytes; -1 if it is none. */
function join(bytes: Uint8Array, index: number, length: number): number {
  let point = (bytes[index] ?? 0) & (0xff >> (length + 1));
  for (let offset = 1; offset < length; offset += 1) {
    const next = bytes[index + offset];
    if (next === undefined || (next & 0xc0) !== 0x80) return -1;
    point = (point << 6) | (next & 0x3f);
  }
  return point;
}

/** Bytes that the text takes at most. */
export function maxBytes(text: string): number {
  return text.length * 3;
}

/** Writes the text at `start`; returns the number of bytes. A lone surrogate becomes U+FFFD. */
export function encodeInto(text: string, bytes: Uint8Array, start: number): number {
  let at = start;
  for (let index = 0; index < text.length; index += 1) {
    let point = text.charCodeAt(index);
    if (point >= 0xd800 && point < 0xe000) {
      const low = point < 0xdc00 ? text.charCodeAt(index + 1) : Number.NaN;
      const pair = low >= 0xdc00 && low < 0xe000;
      point = pair ? 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
      if (pair) index += 1;
    }
    at = writePoint(point, bytes, at);
  }
  return at - start;
}

function writePoint(point: number, bytes: Uint8Array, start: number): number {
  let at = start;
  if (point < 0x80) bytes[at++] = point;
  else {
    if (point < 0x800) bytes[at++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[at++] = 0xe0 | (point >> 12);
      else {
        bytes[at++] = 0xf0 | (point >> 18);
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[at++] = 0x80 | (point & 0x3f);
  }
  return at;
}
