import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKeptTable } from './kept-files';
import { createOwnProvider, createStorage } from './storage';
import { createTemporaryFiles, type TemporaryFiles } from './temporary-files';
import { type ObjectServer, objectServer } from './testing/object-server';
import type { TemporaryFile } from './types';

const MB = 1024 ** 2;
const scope = { site: 'site', app: 'app', field: 'cv' };
const none = new Set<string>();

type Row = Record<string, unknown>;

/** The table that the processes of a test share. */
function createTable() {
  const rows: Row[] = [];
  const matching = ({ where = {} }: { where?: Row }) =>
    rows.filter((row) => Object.entries(where).every(([name, value]) => row[name] === value));
  return {
    rows,
    findMany: async (params: object) => matching(params),
    findOne: async (params: object) => matching(params)[0] ?? null,
    create: async ({ data }: { data: object }) => void rows.push({ ...data }),
    updateMany: async ({ data, ...params }: { data?: object }) => {
      for (const row of matching(params)) Object.assign(row, data);
    },
    deleteMany: async (params: object) => {
      for (const row of matching(params)) rows.splice(rows.indexOf(row), 1);
    },
  };
}

let server: ObjectServer;
let table = createTable();
let folders: string[] = [];
beforeEach(async () => {
  server = await objectServer();
  table = createTable();
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A process with a folder of its own. Of 8 MB, of which a sender has 1 MB. */
async function start(): Promise<TemporaryFiles & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'apps-kept-'));
  folders = [...folders, folder];
  const config = { provider: 'fake', providerOptions: {}, actionOptions: {} };
  const provider = createOwnProvider(config, server.provider as never, { error: () => undefined });
  const storage = createStorage({
    folder: '/none',
    upload: () => undefined,
    own: { name: 'fake', readOnly: false, provider },
  });
  const kept = createKeptTable({ table: () => table, storage, folder });
  return { folder, ...createTemporaryFiles(folder, { keptSize: 8 * MB, maxPixels: 1_000_000 }, async () => kept) };
}

async function kept(files: TemporaryFiles, sender = 'ann', content = 'a text\n'): Promise<TemporaryFile> {
  const file = await files.receive(Readable.from([Buffer.from(content)]), 'a.txt', 10 * MB, scope);
  if (!file || !('token' in file)) throw new Error('not received');
  expect(await files.keep(file, sender, none)).toBe(true);
  return file;
}

const read = (files: TemporaryFiles, file: TemporaryFile) =>
  files.use(file, async ({ path }) => [path === file.path, await readFile(path, 'utf8')]);
const half = 'x'.repeat(MB / 2);
const later = (time: number) => vi.useFakeTimers({ now: Date.now() + time, toFake: ['Date'] });

test('a file that one process has kept is claimed and used by another, and leaves nothing on their disks', async () => {
  const [one, two] = [await start(), await start()];
  const { token } = await kept(one);
  const claimed = await two.claim(token, scope);
  expect(claimed).toMatchObject({ token, name: 'a.txt', size: 7, ...scope });
  expect(await two.claim(token, { ...scope, field: 'other' })).toBeNull();
  expect(await read(two, claimed as TemporaryFile)).toEqual([false, 'a text\n']);
  expect([await readdir(one.folder), await readdir(two.folder)]).toEqual([[], []]);
  await two.remove({ token });
  expect([table.rows.length, server.objects.size, await one.claim(token, scope)]).toEqual([0, 0, null]);
});

test('a file that is only received stays on the disk, and no row is made of it', async () => {
  const files = await start();
  const file = (await files.receive(Readable.from([Buffer.from('a')]), 'a.txt', MB, scope)) as TemporaryFile;
  expect(await read(files, file)).toEqual([true, 'a']);
  await files.remove(file);
  expect([await readdir(files.folder), table.rows.length, server.objects.size]).toEqual([[], 0, 0]);
});

test('the share of a sender is counted over all processes', async () => {
  const [one, two] = [await start(), await start()];
  const first = await kept(one, 'eve', half);
  const second = await kept(two, 'eve', half);
  const third = await kept(await start(), 'eve', half);
  const tokens = table.rows.map(({ token }) => token);
  expect(tokens).toEqual([second.token, third.token]);
  expect([await one.isThere(first), await one.isThere(third)]).toEqual([false, true]);
});

test('a storage that is away keeps nothing, not even a row, and the file is still there', async () => {
  const files = await start();
  await kept(files);
  const file = (await files.receive(Readable.from([Buffer.from('b')]), 'b.txt', MB, scope)) as TemporaryFile;
  server.fault = 'away';
  await expect(files.keep(file, 'ann', none)).rejects.toThrow('The storage of files cannot be reached');
  expect(await read(files, file)).toEqual([true, 'b']);
  server.fault = null;
  await files.clear();
  later(2.1 * 3_600_000);
  await files.clear();
  expect([table.rows.length, server.objects.size]).toEqual([0, 0]);
});

test('an object that is gone fails its use, and one that cannot be removed keeps no other from it', async () => {
  const files = await start();
  const [gone, other] = [await kept(files), await kept(files)];
  table.rows[0] = { ...table.rows[0], content: { ...(table.rows[0]?.content as object), provider: 'unknown' } };
  await expect(read(files, gone)).rejects.toThrow('not in use');
  server.objects.clear();
  await expect(read(files, other)).rejects.toThrow('The kept file is gone');
  later(2.1 * 3_600_000);
  await expect(files.clear()).rejects.toThrow('not in use');
  expect(table.rows.map(({ token }) => token)).toEqual([gone.token]);
});
