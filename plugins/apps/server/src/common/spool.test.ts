import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { clearSpools, spool } from './spool';

const parent = mkdtempSync(join(tmpdir(), 'spool-test-'));
let folder: string;
let made = 0;
beforeEach(() => {
  folder = join(parent, 'deep', String(made++));
});
afterAll(() => rmSync(parent, { recursive: true }));

/** Files without a name that this process has open below the folder; counted on Linux only. */
const openFiles = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').filter(isOfFolder).length : 0);

/** Other files of the process may be closed meanwhile. */
function isOfFolder(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).includes(folder);
  } catch {
    return false;
  }
}

const expectedFiles = (count: number) => (process.platform === 'linux' ? count : 0);

async function* values(count: number, fails = false) {
  for (let at = 0; at < count; at++) yield { at, text: `\n\u2028"é😀${'x'.repeat(1000)}` };
  if (fails) throw new Error('the client has gone');
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of source) list.push(value);
  return list;
}

describe('spool', () => {
  test.each([
    ['in memory', 10, 0],
    ['in a file', 10_000, 1],
  ])('reads all values twice, in order: %s', async (_, count, files) => {
    const expected = await all(values(count));
    const spooled = await spool(values(count), folder);
    expect(openFiles()).toBe(expectedFiles(files));
    expect((await all(spooled.read())).flat()).toEqual(expected);
    expect((await all(spooled.read())).flat()).toEqual(expected);
    await spooled.remove();
    expect(openFiles()).toBe(0);
  });

  test('can be left in the middle, and read by two at once', async () => {
    const spooled = await spool(values(10_000), folder);
    for await (const [first] of spooled.read()) {
      expect(first?.at).toBe(0);
      break;
    }
    const both = await Promise.all([all(spooled.read()), all(spooled.read())]);
    for (const read of both)
      expect(read.flat().map(({ at }) => at)).toEqual(Array.from({ length: 10_000 }, (_, n) => n));
    await spooled.remove();
    expect(openFiles()).toBe(0);
  });

  test.each([
    ['short values', 1_200, 10, [500, 500, 200]],
    ['long ones', 10, 1_500_000, [2, 2, 2, 2, 2]],
    ['very long ones', 2, 5_000_000, [1, 1]],
  ])('reads in batches of bounded length and size: %s', async (_, count, length, expected) => {
    const source = (async function* () {
      for (let at = 0; at < count; at++) yield 'x'.repeat(length);
    })();
    const spooled = await spool(source, folder);
    expect((await all(spooled.read())).map((batch) => batch.length)).toEqual(expected);
    await spooled.remove();
  });

  test('leaves nothing behind when the source fails', async () => {
    await expect(spool(values(10_000, true), folder)).rejects.toThrow('the client has gone');
    expect(readdirSync(folder)).toEqual([]);
    expect(openFiles()).toBe(0);
  });

  test('its file has no name, in a folder that is the owner’s alone', async () => {
    const spooled = await spool(values(10_000), folder);
    expect(readdirSync(folder)).toEqual([]);
    if (process.platform !== 'win32') expect(statSync(folder).mode & 0o777).toBe(0o700);
    await spooled.remove();
  });
});

test('clearSpools removes files of ended processes, and nothing else; files in use stay readable', async () => {
  await clearSpools(folder);
  expect(existsSync(folder)).toBe(false);
  const spooled = await spool(values(10_000), folder);
  const left = `spool-${'0'.repeat(32)}`;
  for (const name of [left, 'spool-mine', 'data.db']) writeFileSync(join(folder, name), '');
  await clearSpools(folder);
  expect(readdirSync(folder)).toEqual(['data.db', 'spool-mine']);
  expect((await all(spooled.read())).flat()).toHaveLength(10_000);
  await spooled.remove();
});
