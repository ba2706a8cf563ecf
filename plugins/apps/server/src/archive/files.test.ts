import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { differences } from './files';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'apps-differences-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, content: string | Buffer) {
  mkdirSync(dirname(join(base, name)), { recursive: true });
  writeFileSync(join(base, name), content);
}
const compared = () => differences(join(base, 'before'), join(base, 'after'));

test('files are added, changed and removed; a link is another file', async () => {
  for (const side of ['before', 'after']) {
    write(`${side}/same`, 'same');
    write(`${side}/empty`, '');
    write(`${side}/deep/as-long`, side === 'before' ? 'one' : 'two');
    write(`${side}/longer`, side);
  }
  write('before/gone', '');
  write('after/new', '');
  write('after/linked', '');
  symlinkSync(join(base, 'after/linked'), join(base, 'before/linked'));
  expect(await compared()).toEqual({
    added: ['new'],
    changed: ['deep/as-long', 'linked', 'longer'],
    removed: ['gone'],
  });
});

test.each([0, 1024 * 1024 - 1, 1024 * 1024, 3_000_000 - 1])('one byte of a large file counts: %i', async (at) => {
  const bytes = Buffer.alloc(3_000_000, 1);
  write('before/large', bytes);
  bytes[at] = 2;
  write('after/large', bytes);
  expect((await compared()).changed).toEqual(['large']);
});

test('other work goes on while large files are compared', async () => {
  for (const side of ['before', 'after']) {
    write(`${side}/large`, '');
    truncateSync(join(base, side, 'large'), 100 * 1024 * 1024);
  }
  let others = 0;
  const count = () => {
    others += 1;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  expect(await compared()).toEqual({ added: [], changed: [], removed: [] });
  clearImmediate(timer);
  expect(others).toBeGreaterThan(50);
});
