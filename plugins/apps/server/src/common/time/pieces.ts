import { slices } from './pace';

/** Characters that are encoded at once. */
const MAX_PIECE = 64 * 1024;

/**
 * The texts of entries, and what stands before and after them, as bytes in pieces. They are made in slices of time, and encoded in
 * them too: a text that is put together from others costs its length only when it is read.
 */
export async function* encoded<T>(
  batches: Iterable<readonly T[]> | AsyncIterable<readonly T[]>,
  textOf: (entry: T) => string,
  { head = '', ending = () => '' }: { head?: string; ending?: () => string } = {},
): AsyncGenerator<Buffer, void> {
  let text = head;
  const take = () => {
    const bytes = Buffer.from(text);
    text = '';
    return bytes;
  };
  const add = (entry: T) => {
    text += textOf(entry);
    return text.length >= MAX_PIECE ? take() : null;
  };
  for await (const batch of batches)
    for await (const pieces of slices(batch, add)) for (const piece of pieces) if (piece) yield piece;
  text += ending();
  if (text !== '') yield take();
}
