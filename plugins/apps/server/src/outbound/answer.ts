import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { AppsError } from '../common/errors';
import { badGateway } from './failures';

/** What `accept-encoding` offers, and the decoder of each. */
const decoders: Record<string, () => Transform> = { gzip: createGunzip, br: createBrotliDecompress };

export const acceptedEncodings = Object.keys(decoders).join(', ');

/**
 * The text of an answer, decoded and in its charset (UTF-8 without one). PayloadTooLargeError above `size` bytes, before or after
 * decoding: no more than that is held in memory, whatever a compressed answer would become.
 */
export async function readText(body: Readable, headers: IncomingHttpHeaders, size: number): Promise<string> {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  const known = encoding === '' || encoding === 'identity' || Object.hasOwn(decoders, encoding);
  if (!known) {
    body.destroy();
    throw badGateway('its answer has an encoding that was not asked for');
  }
  const decoder = decoders[encoding]?.();
  const chunks: Buffer[] = [];
  const counted = bounded(size);
  const keep = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of bounded(size)(source)) chunks.push(chunk);
  };
  if (decoder) await pipeline(body, counted, decoder, keep).catch(decodingFailed);
  else await pipeline(body, keep);
  return decoded(Buffer.concat(chunks), String(headers['content-type'] ?? ''));
}

/** Passes chunks on, up to `size` bytes. */
function bounded(size: number) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > size)
        throw new AppsError(
          'PayloadTooLargeError',
          `The answer to the call is larger than ${size} bytes ("fetch.size")`,
        );
      yield chunk;
    }
  };
}

function decodingFailed(error: unknown): never {
  const { code } = Object(error) as { code?: unknown };
  if (typeof code === 'string' && /^(?:Z_|ERR_(?:_?ZLIB|BROTLI|_ERROR))/.test(code))
    throw badGateway('its answer cannot be decoded');
  throw error;
}

function decoded(bytes: Buffer, type: string): string {
  const [, label = 'utf-8'] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type) ?? [];
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // A charset that is not known.
    return new TextDecoder().decode(bytes);
  }
}

/** Headers as logic sees them, in lower case. @param hide removes secrets */
export function shownHeaders(headers: IncomingHttpHeaders, hide: (text: string) => string): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : String(value);
    return [hide(name), hide(text)];
  });
  return Object.fromEntries(shown);
}
