import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { spool } from './spool';

const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('apps-records-'));

async function* values(count: number, fails = false) {
  for (let at = 0; at < count; at++) yield { at, text: `\n\u2028"${'x'.repeat(1000)}` };
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
  ])('gives everything back, in order, twice: %s', async (_, count, files) => {
    const before = folders();
    const expected = await all(values(count));
    const spooled = await spool(values(count));
    const made = folders().filter((name) => !before.includes(name));
    expect(made).toHaveLength(files);
    expect((await all(spooled.read())).flat()).toEqual(expected);
    expect((await all(spooled.read())).flat()).toEqual(expected);
    await spooled.remove();
    expect(folders().filter((name) => made.includes(name))).toEqual([]);
  });

  test.each([
    ['short values', 1_200, 10, [500, 500, 200]],
    ['long ones', 10, 1_500_000, [2, 2, 2, 2, 2]],
    ['very long ones', 2, 5_000_000, [1, 1]],
  ])('reads in batches of bounded length and size: %s', async (_, count, length, expected) => {
    const source = (async function* () {
      for (let at = 0; at < count; at++) yield 'x'.repeat(length);
    })();
    const spooled = await spool(source);
    expect((await all(spooled.read())).map((batch) => batch.length)).toEqual(expected);
    await spooled.remove();
  });

  test('leaves nothing behind when the source fails', async () => {
    const before = folders();
    await expect(spool(values(10_000, true))).rejects.toThrow('the client has gone');
    expect(folders().filter((name) => !before.includes(name))).toEqual([]);
  });
});
