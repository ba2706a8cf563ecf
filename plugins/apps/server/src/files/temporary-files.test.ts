import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTemporaryFiles, type TemporaryFiles } from './temporary-files';
import type { TemporaryFile } from './types';

const MB = 1024 ** 2;
const hour = 3_600_000;
const scope = { site: 'site', app: 'app', field: 'cv' };
const none = new Set<string>();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apps-kept-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

/** Of 8 MB, of which a sender has 1 MB. */
const open = () => createTemporaryFiles(folder, { keptSize: 8 * MB, maxPixels: 1_000_000 });

async function received(files: TemporaryFiles, size: number = MB / 2): Promise<TemporaryFile> {
  const file = await files.receive(Readable.from([Buffer.alloc(size, 'a text\n')]), 'a.txt', 10 * MB, scope);
  if (!file || !('token' in file)) throw new Error('not received');
  return file;
}

async function kept(files: TemporaryFiles, sender: string): Promise<TemporaryFile> {
  const file = await received(files);
  expect(await files.keep(file, sender, none)).toBe(true);
  return file;
}

/** Lets the clock of the process, not its timers, go on. */
const later = (time: number) => vi.useFakeTimers({ now: Date.now() + time, toFake: ['Date'] });

const isKept = async (files: TemporaryFiles, { token }: TemporaryFile) => (await files.claim(token, scope)) !== null;

test('the oldest files of a sender give way to new ones, and are gone from the disk', async () => {
  const files = open();
  const all = [await kept(files, 'eve'), await kept(files, 'ann'), await kept(files, 'eve'), await kept(files, 'eve')];
  expect(await Promise.all(all.map((file) => isKept(files, file)))).toEqual([false, true, true, true]);
  expect(await readdir(folder)).toHaveLength(6);
});

test('many requests at once keep no more than the share of their sender', async () => {
  const files = open();
  const sent = await Promise.all(Array.from({ length: 12 }, () => received(files)));
  await Promise.all(sent.map((file) => files.keep(file, 'eve', none)));
  const there = await Promise.all(sent.map((file) => isKept(files, file)));
  expect(there.filter(Boolean)).toHaveLength(2);
});

test('a process that starts, and one that shares the folder, count what is on the disk', async () => {
  const first = open();
  const old = [await kept(first, 'eve'), await kept(first, 'eve')];
  const second = open();
  const file = await kept(second, 'eve');
  expect(await Promise.all([...old, file].map((one) => isKept(second, one)))).toEqual([false, true, true]);
  // The first process learns of it when it next reads the folder.
  later(11_000);
  const own = await kept(first, 'eve');
  expect(await Promise.all([...old, file, own].map((one) => isKept(first, one)))).toEqual([false, false, true, true]);
});

test('a kept file is gone after two hours, also for a process that has started since', async () => {
  const file = await kept(open(), 'ann');
  later(1.9 * hour);
  const next = open();
  await next.clear();
  expect(await isKept(next, file)).toBe(true);
  later(0.2 * hour);
  expect(await isKept(next, file)).toBe(false);
  expect(await readdir(folder)).toHaveLength(2);
  await next.clear();
  expect(await readdir(folder)).toEqual([]);
});

test('what a process that ended early has left is removed after two hours, and is no kept file', async () => {
  const files = open();
  const left = await received(files);
  const broken = await kept(files, 'ann');
  await writeFile(`${broken.path}.json`, '{"token":');
  expect(await isKept(files, broken)).toBe(false);
  const next = open();
  await next.clear();
  expect(await readdir(folder)).toHaveLength(3);
  const old = new Date(Date.now() - 2.1 * hour);
  for (const path of [left.path, broken.path, `${broken.path}.json`]) await utimes(path, old, old);
  await next.clear();
  expect(await readdir(folder)).toEqual([]);
});

test('a file is kept for its own field of its own app only', async () => {
  const files = open();
  const { token } = await kept(files, 'ann');
  for (const other of [{ field: 'photo' }, { app: 'b' }, { site: 'b' }])
    expect(await files.claim(token, { ...scope, ...other })).toBeNull();
  expect(await files.claim('../../etc/passwd', scope)).toBeNull();
});
