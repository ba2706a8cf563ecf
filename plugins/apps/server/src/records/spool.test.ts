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
    expect(await all(spooled.read())).toEqual(expected);
    expect(await all(spooled.read())).toEqual(expected);
    await spooled.remove();
    expect(folders().filter((name) => made.includes(name))).toEqual([]);
  });

  test('leaves nothing behind when the source fails', async () => {
    const before = folders();
    await expect(spool(values(10_000, true))).rejects.toThrow('the client has gone');
    expect(folders().filter((name) => !before.includes(name))).toEqual([]);
  });
});
