import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openInside, readThemeFile } from './theme-files';
import { Snapshots } from './themes';

const SECRET = 'the secret';
let directory: string;
let root: string;
const at = (...names: string[]) => join(root, ...names);

beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'open-inside-')));
  root = join(directory, 'theme');
  mkdirSync(at('blocks', 'deep'), { recursive: true });
  mkdirSync(join(directory, 'outside'));
  mkdirSync(join(directory, 'theme-2'));
  for (const path of ['outside/a.html', 'outside/secret.html', 'theme-2/a.html'])
    writeFileSync(join(directory, path), SECRET);
  for (const path of ['a.html', 'b.html', 'pipe.html', 'deep/a.html']) writeFileSync(at('blocks', path), 'own');
});
afterAll(() => rmSync(directory, { recursive: true }));

async function textOf(path: string): Promise<string | null> {
  const file = await openInside(root, path);
  if (!file) return null;
  const text = await file.handle.readFile('utf8');
  await file.handle.close();
  return text;
}

describe('what is opened', () => {
  beforeAll(() => {
    symlinkSync('../outside/a.html', at('out.html'));
    symlinkSync('blocks/a.html', at('in.html'));
    symlinkSync('/dev/zero', at('zero'));
    symlinkSync('../theme-2', at('sibling'));
    execFileSync('mkfifo', [at('pipe')]);
  });
  test.each([
    ['blocks/a.html', 'own'],
    ['in.html', 'own'],
    ['blocks/../blocks/a.html', 'own'],
    ['out.html', null],
    ['../outside/a.html', null],
    ['sibling/a.html', null],
    ['zero', null],
    ['pipe', null],
    ['blocks', null],
    ['none', null],
    ['blocks/a.html/x', null],
  ])('%s', async (path, text) => {
    expect(await textOf(at(path))).toBe(text);
  });
});

test('a file that grows while it is read is not read without end', async () => {
  const path = at('growing.html');
  writeFileSync(path, 'x'.repeat(1024 * 1024 - 10));
  const grow = setInterval(() => appendFileSync(path, 'x'.repeat(100_000)), 0);
  let largest = 0;
  for (let reading = 0; reading < 20; reading += 1) {
    const file = await readThemeFile(root, { path: 'growing.html', real: path });
    largest = Math.max(largest, file?.text.length ?? 0);
  }
  clearInterval(grow);
  expect(largest).toBeLessThanOrEqual(1024 * 1024);
  expect(await readThemeFile(root, { path: 'growing.html', real: path })).toMatchObject({
    text: '',
    problem: 'The file is larger than 1024 kB',
  });
  rmSync(path);
});

describe.skipIf(process.platform === 'win32')(
  'while another process swaps files against links out of the theme',
  () => {
    const seconds = 3;
    const open = () => readdirSync('/proc/self/fd').length;

    test('nothing from outside is read, and own files stay readable', async () => {
      const swaps = [
        { kind: 'file', path: at('blocks/a.html'), target: join(directory, 'outside/secret.html') },
        { kind: 'folder', path: at('blocks/deep'), target: join(directory, 'outside') },
        { kind: 'pipe', path: at('blocks/pipe.html') },
      ];
      const swapper = fork(resolve(__dirname, '../../../../../../tests/support/swap.cjs'), [JSON.stringify(swaps)], {
        execArgv: [],
      });
      await once(swapper, 'message');
      const before = process.platform === 'linux' ? open() : 0;
      const snapshots = new Snapshots([{ folder: 'blocks', deep: true, accepts: (name) => name.endsWith('.html') }], {
        renewAfter: 0,
        max: 0,
      });
      const seen = new Map<string | null | undefined, number>();
      const count = (text: string | null | undefined) => seen.set(text, (seen.get(text) ?? 0) + 1);
      const names = new Set<string>();
      const end = Date.now() + seconds * 1_000;
      try {
        while (Date.now() < end) {
          const paths = ['a.html', 'deep/a.html', 'pipe.html'].map((path) => at('blocks', path));
          for (const text of await Promise.all(paths.map(textOf))) count(text);
          const { files } = await snapshots.get(root, root);
          for (const [path, { text }] of files) {
            names.add(path);
            count(text);
          }
        }
      } finally {
        swapper.kill('SIGKILL');
        await once(swapper, 'exit');
      }
      expect(seen.get(SECRET)).toBeUndefined();
      expect([...names].filter((path) => path.includes('secret'))).toEqual([]);
      expect(seen.get('own')).toBeGreaterThan(20);
      if (process.platform === 'linux') expect(open()).toBeLessThanOrEqual(before);
    });
  },
);
