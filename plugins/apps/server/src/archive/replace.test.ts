import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ArchiveError } from './entries';
import { filesBelow } from './files';
import { putInPlace } from './import';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'apps-replace-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(...names: string[]) {
  for (const name of names) {
    mkdirSync(dirname(join(base, name)), { recursive: true });
    writeFileSync(join(base, name), name);
  }
}

async function failure(): Promise<ArchiveError> {
  try {
    await putInPlace(join(base, 'fresh'), join(base, 'app'), base);
  } catch (error) {
    return error as ArchiveError;
  }
  throw new Error('it did not fail');
}

describe('a folder', () => {
  test('is replaced, and its hidden files stay at every depth', async () => {
    write('app/a', 'app/.git/config', 'app/blocks/.keep', 'app/gone/deep/.env', 'app/gone/b', 'fresh/blocks/c');
    await putInPlace(join(base, 'fresh'), join(base, 'app'), base);
    expect(await filesBelow(base)).toEqual(['app/blocks/c']);
    expect(readdirSync(base)).toEqual(['app']);
    for (const name of ['.git/config', 'blocks/.keep', 'gone/deep/.env'])
      expect(existsSync(join(base, 'app', name)), name).toBe(true);
  });

  test('comes back when the new one cannot be renamed', async () => {
    write('app/a', 'app/.env');
    expect(await failure()).toEqual(expect.objectContaining({ message: expect.stringMatching(/cannot be replaced/) }));
    expect([readdirSync(base), readdirSync(join(base, 'app')).sort()]).toEqual([['app'], ['.env', 'a']]);
  });

  test('is kept under another name when its hidden files cannot be moved', async () => {
    write('app/a/.env', 'fresh/a');
    expect(await failure()).toMatchObject({ cure: `The old folder is ${join(base, 'app.old')}.` });
    expect(existsSync(join(base, 'app.old', 'a', '.env'))).toBe(true);
    write('fresh/a');
    rmSync(join(base, 'app'), { recursive: true });
    write('app/a/.env');
    const { cure = '' } = await failure();
    const [, kept = ''] = /^The old folder is (.*)\.$/.exec(cure) ?? [];
    expect(existsSync(join(kept, 'a', '.env'))).toBe(true);
  });
});
