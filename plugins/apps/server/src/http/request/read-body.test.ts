import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { type Files, RequestFiles } from '../../files';
import { type MultipartOptions, readMultipart } from './read-body';

const part = (name: string, content: string, filename?: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n${content}\r\n`;

const scope = { site: 'site', app: 'app' };

/** Reads a body; the file in each part says after how many milliseconds it is stored, or that it cannot be. */
function readForm(body: string, more: Partial<MultipartOptions> = {}) {
  const removed: string[] = [];
  const receive = async (stream: AsyncIterable<Buffer>, name: string) => {
    let text = '';
    for await (const chunk of stream) text += chunk;
    if (name === '' && text === '') return null;
    if (text === 'ENOSPC') throw new Error(text);
    await pause(Number(text));
    return { name, token: name };
  };
  const remove = async ({ token }: { token: string }) => void removed.push(token);
  const files = { temporary: { receive, remove } } as unknown as Files;
  const ctx = {
    req: Readable.from([Buffer.from(body)]),
    res: { closed: false },
    request: {} as { body?: unknown },
    get: (name: string) => (name === 'Content-Type' ? 'multipart/form-data; boundary=b' : ''),
  };
  const options: MultipartOptions = {
    bodySize: 1_000,
    uploadSize: 1_000,
    rules: new Map([['papers', { maxSize: 100, count: 1 }]]),
    files,
    scope,
    check: () => true,
    ...more,
  };
  const own = new RequestFiles(files, scope, () => 'sender');
  const reading = readMultipart(ctx as unknown as Context, own, options);
  return { reading, own, removed, ctx, names: () => own.of('papers').map((file) => (file as { name: string }).name) };
}

test('files and texts keep the order in which they were sent, whichever is stored first', async () => {
  const body = [
    part('papers', '60', 'first.txt'),
    part('text', 'one'),
    part('papers', '30', 'second.txt'),
    part('papers', '1', 'third.txt'),
    part('text', 'two'),
    '--b--\r\n',
  ].join('');
  const { reading, names, ctx } = readForm(body, { rules: new Map([['papers', { maxSize: 100, count: 5 }]]) });
  await reading;
  expect(names()).toEqual(['first.txt', 'second.txt', 'third.txt']);
  expect(ctx.request.body).toEqual({ text: ['one', 'two'] });
});

test('a file after empty parts of its field is not lost', async () => {
  const empty = part('papers', '', '');
  const { reading, names } = readForm(`${empty}${empty}${empty}${part('papers', '1', 'kept.txt')}--b--\r\n`);
  await reading;
  expect(names()).toEqual(['kept.txt']);
});

test('a file that cannot be stored is the server’s fault', async () => {
  const { reading } = readForm(`${part('papers', 'ENOSPC', 'a.txt')}--b--\r\n`);
  await expect(reading).rejects.toThrow('ENOSPC');
});

test.each([
  ['that ends too soon', part('papers', '1', 'a.txt').slice(0, -2)],
  ['that ends after a part', part('text', 'one')],
  ['with another boundary', part('text', 'one').replace('--b', '--c')],
  ['without anything', ''],
])('a body %s is no form', async (_title, body) => {
  const { reading } = readForm(body);
  await expect(reading).rejects.toThrow(/not a complete form/);
});

test('a file that is stored after the client has left is removed', async () => {
  const { reading, own, removed } = readForm(`${part('papers', '20', 'late.txt')}--b--\r\n`);
  await own.end();
  await reading;
  expect(removed).toEqual(['late.txt']);
});
