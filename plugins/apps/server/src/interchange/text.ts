import { TextDecoder } from 'node:util';

/**
 * The text of a file in UTF-8 that comes in pieces of bytes, without a byte order mark.
 * @param wrong makes the error that is thrown for bytes that are not UTF-8
 */
export async function* textOf(chunks: AsyncIterable<Uint8Array>, wrong: () => Error): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw wrong();
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  // Throws for a character that is not complete.
  yield decode();
}
