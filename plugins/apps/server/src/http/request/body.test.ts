import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readBytes } from './body';

/** A request of which the body comes in pieces; `after` is called when they are written. */
function requestOf(pieces: readonly string[], after: (body: PassThrough) => void = (body) => body.end()) {
  const body = new PassThrough();
  for (const piece of pieces) body.write(piece);
  after(body);
  return body as unknown as IncomingMessage;
}

test.for([
  { title: 'no piece', pieces: [], text: '' },
  { title: 'one piece', pieces: ['{"a":1}'], text: '{"a":1}' },
  { title: 'several pieces', pieces: ['{"a"', ':', '1}'], text: '{"a":1}' },
  { title: 'as many bytes as it may have', pieces: ['12345', '67890'], text: '1234567890' },
])('a body of $title is read', async ({ pieces, text }) => {
  expect((await readBytes(requestOf(pieces), 10)).toString()).toBe(text);
});

test('a body that is too large is refused before its end, and its connection stays open', async () => {
  const request = requestOf(['12345', '678901'], () => undefined);
  await expect(readBytes(request, 10)).rejects.toMatchObject({ status: 413 });
  expect(request.destroyed).toBe(false);
  expect(request.isPaused()).toBe(true);
});

test.for([
  { title: 'closes', after: (body: PassThrough) => void body.destroy() },
  { title: 'fails', after: (body: PassThrough) => void body.destroy(new Error('aborted')) },
])('a request that $title before the end of its body is refused', async ({ after }) => {
  await expect(readBytes(requestOf(['123'], after), 10)).rejects.toMatchObject({
    status: 400,
    message: 'The body ended too soon',
  });
});
