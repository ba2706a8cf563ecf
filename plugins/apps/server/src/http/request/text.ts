import { isUtf8 } from 'node:buffer';
import { AppsError } from '../../common/errors';

/** BadRequestError, with the offset of the first wrong byte, for bytes that are not UTF-8. `what`: `The body`. */
export function checkUtf8(bytes: Buffer, what: string): void {
  if (isUtf8(bytes)) return;
  const position = invalidByte(bytes);
  throw new AppsError('BadRequestError', `${what} is not UTF-8: byte ${position} is wrong`, { details: { position } });
}

/** Decoding puts U+FFFD where bytes are wrong; encoded again, the text differs from there on. */
function invalidByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === again[offset]) offset += 1;
  while (offset > 0 && ((again[offset] ?? 0) & 0xc0) === 0x80) offset -= 1;
  return offset;
}

const hexByte = /^%[\da-f]{2}$/i;

/**
 * BadRequestError, with the offset of the first wrong sequence, for text whose percent-encoded parts are not UTF-8. A `%`
 * that encodes nothing is only a `%`.
 */
export function checkEncoded(text: string, what: string): void {
  if (!/%[89a-f]/i.test(text)) return;
  const { bytes, offsets } = percentDecoded(text);
  if (isUtf8(bytes)) return;
  let position = offsets[invalidByte(bytes)] as number;
  let end = position;
  while (hexByte.test(text.slice(position - 3, position))) position -= 3;
  while (hexByte.test(text.slice(end, end + 3))) end += 3;
  const shown = end - position > 30 ? `${text.slice(position, position + 30)}…` : text.slice(position, end);
  const message = `${what} is not UTF-8: ${shown} at position ${position} encodes no text`;
  throw new AppsError('BadRequestError', message, { details: { position } });
}

/** Percent-encoded parts as bytes, a space for every other character; and the offset of each byte in the text. */
function percentDecoded(text: string): { bytes: Buffer; offsets: Uint32Array } {
  const bytes = Buffer.alloc(text.length, ' ');
  const offsets = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1, length += 1) {
    offsets[length] = at;
    if (text[at] !== '%') continue;
    const byte = hexDigit(text.charCodeAt(at + 1)) * 16 + hexDigit(text.charCodeAt(at + 2));
    if (Number.isNaN(byte)) continue;
    bytes[length] = byte;
    at += 2;
  }
  return { bytes: bytes.subarray(0, length), offsets };
}

/** The value of a hexadecimal digit's character code; NaN if it is none. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = (code | 32) - 97;
  return letter >= 0 && letter < 6 ? letter + 10 : Number.NaN;
}
