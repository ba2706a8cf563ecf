import { Readable } from 'node:stream';
import type { Context } from 'koa';

/** A body of chunks; closes the connection when they fail, so that an incomplete answer does not look complete. */
export function streamed(ctx: Context, chunks: AsyncIterable<string | Buffer>): Readable {
  const body = Readable.from(chunks);
  body.once('error', () => ctx.res.destroy());
  return body;
}

/** What an iterator gives, after its first result was read. */
export async function* resumed<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let next = first; !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
