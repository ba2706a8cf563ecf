import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { type Files, RequestFiles } from '../../files';
import { readMultipart } from './multipart';
import type { MultipartOptions } from './multipart-parts';

const part = (name: string, content: string, filename?: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}\r\n\r\n${content}\r\n`;

test('files and texts keep the order in which they were sent, whichever is stored first', async () => {
  /** Stores a file after as many milliseconds as it says. */
  const receive = async (stream: AsyncIterable<Buffer>, name: string) => {
    let text = '';
    for await (const chunk of stream) text += chunk;
    await pause(Number(text));
    return { name };
  };
  const files = { held: { receive } } as unknown as Files;
  const scope = { site: 'site', app: 'app' };
  const body = [
    part('papers', '60', 'first.txt'),
    part('text', 'one'),
    part('papers', '30', 'second.txt'),
    part('papers', '1', 'third.txt'),
    part('text', 'two'),
    '--b--\r\n',
  ].join('');
  const ctx = {
    req: Readable.from([Buffer.from(body)]),
    res: { closed: false },
    request: {} as { body?: unknown },
    get: (name: string) => (name === 'Content-Type' ? 'multipart/form-data; boundary=b' : ''),
  };
  const options: MultipartOptions = {
    bodySize: 1_000,
    uploadSize: 1_000,
    rules: new Map([['papers', { maxSize: 100, count: 5 }]]),
    files,
    scope,
    check: () => true,
  };
  const read = await readMultipart(ctx as unknown as Context, new RequestFiles(files, scope), options);
  expect(read.of('papers').map((file) => (file as { name: string }).name)).toEqual([
    'first.txt',
    'second.txt',
    'third.txt',
  ]);
  expect(ctx.request.body).toEqual({ text: ['one', 'two'] });
});
