import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage } from '../support/hooks';
import type { Host } from '../support/host';
import { startTwin } from '../support/stage';
import { filePart, type Upload, upload } from '../support/upload';

const MB = 1024 * 1024;

/** Holds the system's temporary folder of the host, and the plugin's. */
const at = useFolder('uploads', (folder) => mkdir(path.join(folder, 'system')));
const env = () => ({ TMPDIR: at('system'), ...configured({ apps: { temporaryDirectory: at('own') } }) });
const stage = useStage(() => ({ env: env() }));

/** Files in the temporary folders, except those of Node.js and the empty working folder of the sandbox. */
const left = async () => {
  const files = await Promise.all([at('system'), at('own')].map((one) => readdir(one).catch(() => [])));
  return files.flat().filter((name) => !/^(node-compile-cache|apps-empty-)/.test(name));
};

const portOf = (host: Host) => Number(new URL(host.url).port);

describe('a body that is too large', () => {
  const size = 600 * MB;
  /** More than the buffers of a connection, which on a busy machine are refilled a few times before the answer arrives. */
  const few = size / 4;
  const json = { type: 'application/json', begin: '{"a":"' };
  const cases: [string, Partial<Upload> & { path: string }][] = [
    ['a file, to a block', { path: '/site/@@apps/flow/blocks/item' }],
    ['a file, to the app', { path: '/site/@@apps/open' }],
    ['a file, to no app', { path: '/site/@@apps/none' }],
    ['a file, to a page', { path: '/site/' }],
    ['a file, to the login', { path: '/site/@@login' }],
    ['a file, encoded address', { path: '/site/%40%40apps/flow/blocks/item' }],
    ['another multipart type', { path: '/site/@@apps/open', type: 'multipart/mixed; boundary=b' }],
    ['a type that two parsers take', { path: '/site/@@apps/open', type: 'multipart/x; a=octet-stream; boundary=b' }],
    ['a field', { path: '/site/@@apps/flow/blocks/item', begin: filePart.replace(/; filename.*\r\n.*\r\n/, '\r\n') }],
    ['a header of a part', { path: '/site/@@apps/flow/blocks/item', begin: '--b\r\nX-Header: ' }],
    ['JSON', { path: '/site/@@apps/open', ...json }],
    ['a text', { path: '/site/@@apps/open', type: 'text/plain', begin: '' }],
    ['a form', { path: '/site/@@login', type: 'application/x-www-form-urlencoded', begin: 'a=' }],
  ];

  test.each(cases)('%s: 413 before it is read', async (_, what) => {
    const answer = await upload({ port: portOf(stage.host), size, ...what });
    expect(answer.status, answer.text.slice(0, 500)).toBe(413);
    expect(answer.text).toContain('PayloadTooLargeError');
    expect(answer.sent).toBeLessThan(few);
    expect(await left()).toEqual([]);
  });

  test.each(cases)('%s, without a length: 413 while it is read', async (_, what) => {
    const answer = await upload({ port: portOf(stage.host), size, ...what, chunked: true });
    expect(answer.status, answer.text.slice(0, 500)).toBe(413);
    expect(answer.sent).toBeLessThan(few);
    expect(await left()).toEqual([]);
  });

  test('the connection of a client that goes on sending is closed', async () => {
    const closed = new Promise<number>((done) => {
      const begin = Date.now();
      const socket = connect(portOf(stage.host), '127.0.0.1');
      socket.write('POST /site/@@apps/open HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n');
      socket.write(`Content-Length: ${120 * MB}\r\n\r\n`);
      const drip = setInterval(() => socket.write('x'), 100);
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(drip);
        done(Date.now() - begin);
      });
    });
    expect(await closed).toBeLessThan(30_000);
  });
});

test('a whole request has the documented time limit', async () => {
  const times = await stage.host.run(({ server }) => [
    server.httpServer.requestTimeout,
    server.httpServer.headersTimeout,
  ]);
  expect(times).toEqual([300_000, 60_000]);
});

describe('a file that is small enough', () => {
  const send = (line: string, body: string) =>
    stage.send({ send: line, body, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
  const file = (name: string) => `${filePart.replace('name="file"', `name="${name}"`)}small\r\n`;

  test.each([
    ['POST flow/blocks/item', 'file'],
    ['POST flow/blocks/item', 'files'],
    ['POST open', 'file'],
    ['PATCH open/record/none', 'file'],
  ])('%s is refused, and nothing of it stays: %s', async (line, name) => {
    const answer = await send(line, `${file(name)}${file('other')}--b--\r\n`);
    expect(answer.status, answer.text).toBe(415);
    expect(await left()).toEqual([]);
  });

  test('no part stays of a malformed file, or of one whose client leaves', async () => {
    expect((await send('POST flow/blocks/item', `${file('file')}--`)).status).toBe(400);
    const port = portOf(stage.host);
    const leaving = { port, path: '/site/@@apps/flow/blocks/item', size: MB / 2, leaveAt: MB / 4 };
    await Promise.all([upload(leaving), upload({ ...leaving, chunked: true })]);
    expect((await stage.send({ send: 'GET open' })).status).toBe(200);
    expect(await left()).toEqual([]);
  });

  test.each([
    ['an address of the panel, without its credentials', 'POST /apps/sites/site/apps/open/form', 401],
    ['one that takes no files', 'POST /apps/sites', 405],
    ['one that there is not', 'POST /apps/none', 405],
    ['one in other letters', 'PUT /APPS/none', 405],
  ])('nothing stays of a file that was sent to %s', async (_what, line, status) => {
    const answer = await send(line, `${file('file')}${file('files')}--b--\r\n`);
    expect(answer.status, answer.text).toBe(status);
    await expect.poll(left).toEqual([]);
  });

  test("Strapi's own addresses accept files as before", async () => {
    const fields = Array.from(
      { length: 3 },
      (_, n) => `--b\r\nContent-Disposition: form-data; name="f${n}"\r\n\r\n1\r\n`,
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await stage.send({ send: 'POST /api/articles', body: `${fields.join('')}--b--\r\n`, headers });
    expect(answer.status).toBe(403);
  });
});

describe('NDJSON', () => {
  const records = '/site/@@apps/open/records';
  const line = `${JSON.stringify({ text: 'x'.repeat(1_000) })}\n`;
  const ndjson = async (size: number, more: Partial<Upload> = {}) =>
    upload({
      port: portOf(stage.host),
      path: records,
      type: 'application/x-ndjson',
      headers: { 'X-CSRF-TOKEN': await stage.csrf('anonymous') },
      begin: line.repeat(size / line.length),
      size: 0,
      ...more,
    });

  test('a wrong line in the middle of a long body is answered, without the rest', async () => {
    const answer = await ndjson(MB, { size: 120 * MB });
    expect(answer.status, answer.text.slice(0, 300)).toBe(413);
    expect(answer.text).toContain('A line is longer than');
    expect(await left()).toEqual([]);
  });

  test('a body too large for memory is in a file without a name, and is freed when the host is killed', async () => {
    const pid = await stage.host.run(() => process.pid);
    const open = async () => {
      if (process.platform !== 'linux') return 1;
      const descriptors = await readdir(`/proc/${pid}/fd`);
      const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
      return links.filter((link) => link.startsWith(at('own'))).length;
    };
    const refused = await ndjson(0, { size: 120 * MB, chunked: true, begin: `${line.repeat(20_000)}{"a":"` });
    expect(refused.status).toBe(413);
    expect(await left()).toEqual([]);
    expect(await open()).toBe(0);
    // A body that does not end: the file is there, and has no name.
    const socket = connect(portOf(stage.host), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST ${records} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n` +
        `X-CSRF-TOKEN: ${await stage.csrf('anonymous')}\r\n\r\n`,
    );
    const body = line.repeat(20_000);
    socket.write(`${body.length.toString(16)}\r\n${body}\r\n`);
    await expect.poll(open).toBe(1);
    expect(await left()).toEqual([]);
    process.kill(pid, 'SIGKILL');
    await new Promise((done) => socket.once('close', done));
    expect(await left()).toEqual([]);
    // As if the process had been killed between creating the file and removing its name.
    await writeFile(at('own', `spool-${'a'.repeat(32)}`), 'left');
    const next = await startTwin(stage, { env: env() });
    expect(await left()).toEqual([]);
    await next.stop();
  });
});
