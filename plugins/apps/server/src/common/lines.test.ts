import { expect, test } from 'vitest';
import { linesOf } from './text';

async function* each(pieces: Iterable<string>) {
  yield* pieces;
}
async function read(pieces: Iterable<string>, limit?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(each(pieces), limit)) lines.push(line);
  return lines;
}

test.each([
  [[], []],
  [[''], []],
  [['a'], ['a']],
  [['a\n'], ['a']],
  [['a\nb'], ['a', 'b']],
  [
    ['a', 'b\n', '\nc', '', 'd\r\n'],
    ['ab', '', 'cd\r'],
  ],
  [['a\u2028b\n\n'], ['a\u2028b', '']],
])('the lines of %j are read', async (pieces, lines) => {
  expect(await read(pieces)).toEqual(lines);
});

test.each([
  [['12345', '\n'], true],
  [['123', '456'], false],
  [['123456\n'], false],
  [['12345\n12345'], true],
])('lines of at most 5 characters: %j', async (pieces, fits) => {
  const reading = read(pieces, 5);
  if (fits) expect((await reading).length).toBeGreaterThan(0);
  else await expect(reading).rejects.toThrow('A line is too long');
});

test('a long line in very many pieces is not read again for each of them', async () => {
  const pieces = Array.from({ length: 100_000 }, () => 'x');
  expect((await read(pieces))[0]).toHaveLength(100_000);
});
