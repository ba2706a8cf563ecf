import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPrivateFiles, type OwnTable, type PrivateOptions } from './private-files';
import { bytesOf, createOwnProvider, createStorage } from './storage';
import { type ObjectServer, objectServer } from './testing/object-server';

type Row = Record<string, unknown>;

let server: ObjectServer;
let folder = '';
let rows: Row[] = [];
beforeEach(async () => {
  server = await objectServer();
  folder = await mkdtemp(join(tmpdir(), 'apps-private-'));
  rows = [];
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const ofFile = ({ where }: { where: { file: string | { $in: string[] } } }) =>
  rows.filter(({ file }) => (typeof where.file === 'string' ? [where.file] : where.file.$in).includes(String(file)));

/** The private files of a host with a provider of its own, or with the folder alone. @param update in place of the table's */
function files({ hasProvider, update }: { hasProvider: boolean; update?: OwnTable['updateMany'] }) {
  const config = { provider: 'fake', providerOptions: {}, actionOptions: {} };
  const provider = createOwnProvider(config, server.provider as never, { error: () => undefined });
  const own = hasProvider ? { name: 'fake', readOnly: false, provider } : null;
  const table = {
    findMany: async (params: object) => ofFile(params as never),
    updateMany:
      update ??
      (async ({ data, ...params }: { data?: object }) => {
        for (const row of ofFile(params as never)) Object.assign(row, data);
      }),
  };
  return createPrivateFiles({
    table: () => table as unknown as OwnTable,
    storage: createStorage({ folder, upload: () => undefined, own }),
    pathOf: () => '/none',
  } as unknown as PrivateOptions);
}

/** A file with a small picture, stored in the folder. */
async function inFolder() {
  const part = (content: string) => ({
    name: 'a.png',
    mime: 'image/png',
    size: content.length,
    getStream: () => Readable.from([Buffer.from(content)]),
  });
  const content = await files({ hasProvider: false }).keep(
    'abc',
    { width: 2, height: 1 },
    part('whole'),
    part('small'),
  );
  rows.push({ id: 1, file: 'abc', site: 'site', app: 'app', private: true, content });
}

const onDisk = async () =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());

async function state() {
  const all = files({ hasProvider: true });
  const [file] = await all.findAll(['abc']);
  if (!file) throw new Error('no file');
  const read = async (part: 'main' | 'thumbnail') => {
    const opened = await all.open(file, part);
    const stream = opened && (await bytesOf(opened));
    return stream && text(stream);
  };
  const places = { provider: file.provider, onDisk: (await onDisk()).length, objects: server.objects.size };
  return { ...places, before: file.before?.provider, main: await read('main'), thumbnail: await read('thumbnail') };
}

const move = async (given: Parameters<typeof files>[0] = { hasProvider: true }) => {
  const all = files(given);
  const [file] = await all.findAll(['abc']);
  return file && all.toCurrent(file);
};
const moved = { provider: 'apps:fake', onDisk: 0, objects: 2, before: undefined, main: 'whole', thumbnail: 'small' };

test('a file of the folder is read there, and moved to the provider', async () => {
  await inFolder();
  expect(await state()).toEqual({ ...moved, provider: null, onDisk: 2, objects: 0 });
  expect(await move()).toBe('moved');
  expect(await state()).toEqual(moved);
  expect(await move()).toBe('there');
});

test('a move that ended before the old bytes were removed is completed by the next one', async () => {
  await inFolder();
  let updates = 0;
  const ending: OwnTable['updateMany'] = async ({ data }: { data?: object }) => {
    updates += 1;
    if (updates > 1) throw new Error('ended');
    Object.assign(rows[0] as Row, data);
  };
  await expect(move({ hasProvider: true, update: ending })).rejects.toThrow('ended');
  expect(await state()).toEqual({ ...moved, before: null });
  expect(await move()).toBe('moved');
  expect(await state()).toEqual(moved);
});

test('a file that is removed while it is moved leaves nothing at the provider, and one without bytes is gone', async () => {
  await inFolder();
  const removed: OwnTable['updateMany'] = async () => void rows.splice(0);
  expect(await move({ hasProvider: true, update: removed })).toBe('gone');
  expect(server.objects.size).toBe(0);
  await inFolder();
  await rm(folder, { recursive: true, force: true });
  expect([await move(), server.objects.size]).toEqual(['gone', 0]);
});

test('a file that is removed before its move was completed leaves nothing anywhere', async () => {
  await inFolder();
  const all = files({ hasProvider: true });
  const content = rows[0]?.content as object;
  expect(await move()).toBe('moved');
  await inFolder();
  rows = [{ ...rows[0], content: { ...(rows[0]?.content as object), before: content } }];
  const [file] = await all.findAll(['abc']);
  if (file) await all.remove(file);
  expect([(await onDisk()).length, server.objects.size]).toEqual([0, 0]);
});
