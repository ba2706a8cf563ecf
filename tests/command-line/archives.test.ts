import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { filesBelow } from '../../plugins/apps/server/src/archive/files';
import { runCli } from '../support/command-line';
import { useFolder } from '../support/hooks';
import { repository } from '../support/theme';
import { typeErrors } from '../support/typescript';

const files: Record<string, string> = {
  'theme.yaml': 'title: Club\n',
  'layout.html': '{{ main }}',
  'assets/club.css': 'a { color: red }',
  'apps/poll/settings.yaml': 'debug: true\n',
  'apps/poll/blocks/vote.yaml': 'elements: {choice: TEXT}\n',
  'apps/poll/blocks/vote.html': '{choice}',
  'apps/poll/assets/é.txt': 'é',
};

const at = useFolder('archives');

/** A new themes folder for each test. */
beforeEach(async () => {
  await rm(at('themes'), { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(at('themes', 'club', name)), { recursive: true });
    await writeFile(at('themes', 'club', name), text);
  }
});

async function run(...args: string[]) {
  const { code, out, err } = await runCli([...args, '--themes', at('themes')], { cwd: at() });
  return { code, out, err, json: args.includes('--json') ? JSON.parse(out) : undefined };
}

interface Added {
  text?: string | Buffer;
  mode?: number;
}

/** A ZIP of these files. Names that a packer refuses are written by `patch`, which changes its bytes. */
async function zip(entries: Record<string, Added | string>, patch = (bytes: Buffer): Buffer => bytes): Promise<void> {
  const made = new ZipFile();
  for (const [name, entry] of Object.entries(entries)) {
    const { text = '', mode = 0o100644 } = typeof entry === 'string' ? { text: entry } : entry;
    made.addBuffer(Buffer.from(text), name, { mode });
  }
  made.end();
  await writeFile(at('in.zip'), patch(await buffer(made.outputStream)));
}

/** Replaces a text of the same length everywhere. */
const renaming = (from: string, to: string) => (bytes: Buffer) =>
  Buffer.from(bytes.toString('latin1').replaceAll(from, Buffer.from(to).toString('latin1')), 'latin1');

const written = () => [...filesBelow(at('themes')), ...(existsSync(at('escaped.txt')) ? ['escaped.txt'] : [])];
const before = Object.keys(files)
  .map((name) => `club/${name}`)
  .sort();

describe('an app', () => {
  test('comes back from its ZIP, in another theme too', async () => {
    expect(await run('export', 'club/poll', 'poll.zip')).toMatchObject({
      code: 0,
      out: expect.stringContaining('4 files'),
    });
    expect(existsSync(at('poll.zip.part'))).toBe(false);
    const first = await readFile(at('poll.zip'));
    await run('export', 'club/poll', 'poll.zip');
    expect((await readFile(at('poll.zip'))).equals(first)).toBe(true);

    await mkdir(at('themes', 'other'));
    expect((await run('import', 'poll.zip', '--theme', 'other', '--json')).json).toMatchObject({
      kind: 'app',
      id: 'poll',
      files: 4,
    });
    expect(await run('import', 'poll.zip', '--theme', 'other', '--id', 'votes')).toMatchObject({ code: 0 });
    const own = Object.keys(files).filter((name) => name.startsWith('apps/'));
    const copied = own.flatMap((name) => [`other/${name}`, `other/${name.replace('poll', 'votes')}`]);
    expect(written().sort()).toEqual([...before, ...copied].sort());
    expect(await readFile(at('themes', 'other', 'apps', 'votes', 'assets', 'é.txt'), 'utf8')).toBe('é');
  });

  test('that is there is replaced with --replace only', async () => {
    await run('export', 'club/poll', 'poll.zip');
    expect(await run('import', 'poll.zip', '--theme', 'club')).toMatchObject({
      code: 0,
      out: expect.stringContaining('equal files'),
    });
    const folder = at('themes', 'club', 'apps', 'poll');
    await writeFile(path.join(folder, 'blocks', 'vote.html'), 'changed');
    await writeFile(path.join(folder, 'blocks', 'own.html'), '');
    await rm(path.join(folder, 'settings.yaml'));
    await writeFile(path.join(folder, '.hidden'), '');
    await writeFile(path.join(folder, 'blocks', '.hidden'), '');
    await symlink('/etc/passwd', path.join(folder, 'blocks', 'link'));

    const refused = await run('import', 'poll.zip', '--theme', 'club', '--json');
    const found = {
      added: ['settings.yaml'],
      changed: ['blocks/vote.html'],
      removed: ['blocks/link', 'blocks/own.html'],
    };
    expect(refused).toMatchObject({ code: 1, json: { differences: found, replaced: false } });
    expect(refused.err).toContain('--replace');
    expect(await readFile(path.join(folder, 'blocks', 'vote.html'), 'utf8')).toBe('changed');

    expect((await run('import', 'poll.zip', '--theme', 'club', '--replace')).out).toContain('removed  blocks/own.html');
    expect(written().sort()).toEqual(before);
    expect(existsSync(path.join(folder, '.hidden'))).toBe(true);
    expect(existsSync(path.join(folder, 'blocks', '.hidden'))).toBe(true);
    expect(existsSync(path.join(folder, 'blocks', 'link'))).toBe(false);
    expect(existsSync(at('themes', 'club', 'apps', '.import'))).toBe(false);
  });
});

describe('a theme', () => {
  test('comes back from its ZIP', async () => {
    await symlink('/etc/passwd', at('themes', 'club', 'assets', 'link'));
    const exported = await run('export', 'club', 'club.zip', '--json');
    expect(exported).toMatchObject({
      code: 0,
      json: { files: 7 },
      err: expect.stringContaining('assets/link is a link'),
    });
    await rm(at('themes'), { recursive: true });
    expect((await run('import', 'club.zip', '--json')).json).toMatchObject({ kind: 'theme', id: 'club', files: 7 });
    expect(written().sort()).toEqual(before);
  });

  test('whose files are at the top of the ZIP is named by it', async () => {
    await zip({ 'theme.yaml': 'title: A\n', 'layout.html': '' });
    expect(await run('import', 'in.zip')).toMatchObject({ code: 0 });
    expect(existsSync(at('themes', 'in', 'layout.html'))).toBe(true);
  });
});

describe('of a ZIP', () => {
  test('hidden files are left out', async () => {
    const hidden = ['.git/config', 'blocks/.DS_Store', 'blocks/.x/a.html', '__MACOSX/a', 'Thumbs.db'];
    const names = ['blocks/a.html', ...hidden].map((name) => [`app/${name}`, '']);
    await zip({ ...Object.fromEntries(names), '.gitignore': '', '__MACOSX/app/a': '' });
    expect((await run('import', 'in.zip', '--theme', 'club', '--json')).json).toMatchObject({ id: 'app', files: 1 });
    expect(await readdir(at('themes', 'club', 'apps', 'app'), { recursive: true })).toEqual([
      'blocks',
      'blocks/a.html',
    ]);
  });

  test.each(['theme.yaml', 'layout.html', 'apps/a/blocks/b.html'])(
    '%s decides for a theme, which may have folders named as those of an app',
    async (name) => {
      await zip({ [`own/${name}`]: '', 'own/lib/a.js': '', 'own/blocks/a.txt': '' });
      expect((await run('import', 'in.zip', '--json')).json).toMatchObject({ kind: 'theme', id: 'own', files: 3 });
    },
  );
});

describe('nothing is written of a ZIP', () => {
  const block = { 'app/blocks/a.html': '' };
  const zeros = Buffer.alloc(60 * 1024 * 1024);
  const cases: [what: string, make: () => Promise<void>, message: RegExp][] = [
    [
      'that leaves its folder',
      () => zip({ ...block, 'app/XXXXXX.txt': '' }, renaming('app/XXXXXX.txt', '../escaped.txt')),
      /leaves its folder/,
    ],
    [
      'with an absolute path',
      () => zip({ ...block, 'XXXXXXX.txt': '' }, renaming('XXXXXXX.txt', '/tmp/xx.txt')),
      /absolute path/,
    ],
    [
      'with a path of Windows',
      () => zip({ ...block, 'XXXXXXX.txt': '' }, renaming('XXXXXXX.txt', 'C:/x/xx.txt')),
      /absolute path/,
    ],
    ['with backslashes', () => zip({ ...block, 'app/XXX.txt': '' }, renaming('XXX.txt', '..\\x.tx')), /backslash/],
    [
      'with a control character',
      () => zip({ ...block, 'app/XXX.txt': '' }, renaming('XXX.txt', 'X\u0000X.txt')),
      /not every file system/,
    ],
    [
      'with a name that is not UTF-8',
      () =>
        zip({ ...block, 'app/XXX.txt': '' }, (bytes) =>
          Buffer.from(bytes.toString('latin1').replaceAll('XXX.txt', '\xff\xfeX.txt'), 'latin1'),
        ),
      /not every file system/,
    ],
    [
      'with a symbolic link',
      () => zip({ ...block, 'app/blocks/b.html': { text: '/etc/passwd', mode: 0o120777 } }),
      /link or a device/,
    ],
    ['with a name twice', () => zip({ ...block, 'app/blocks/A.html': '' }), /clashes with "app\/blocks\/a.html"/],
    [
      'with a file that is a folder',
      () => zip({ ...block, 'app/Blocks/b.html': '', 'app/blocks/a.html/c': '' }),
      /clashes/,
    ],
    [
      'with an encrypted file',
      () =>
        zip(block, (bytes) => {
          bytes[bytes.indexOf('PK\u0001\u0002') + 8] = 1;
          return bytes;
        }),
      /encrypted/,
    ],
    ['with a file that is too large', () => zip({ ...block, 'app/assets/a': { text: zeros } }), /larger than 50 MB/],
    [
      'that is packed too well',
      () => zip({ ...block, 'app/assets/a': { text: zeros.subarray(0, 9_000_000) } }),
      /200 times as large/,
    ],
    [
      'with too many files',
      () => zip(Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`app/blocks/${n}.html`, '']))),
      /more than 5000 files/,
    ],
    [
      'whose file is larger than it says',
      () =>
        zip({ ...block, 'app/assets/a': 'a'.repeat(5_000) }, (bytes) => {
          bytes.writeUInt32LE(9, bytes.lastIndexOf('PK\u0001\u0002') + 24);
          return bytes;
        }),
      /damaged, or not what it says/,
    ],
    [
      'with a wrong definition',
      () => zip({ 'app/blocks/a.yaml': 'elements:\n  a: TEXTT' }),
      /apps\/app\/blocks\/a\.yaml:2:6: .*"TEXTT" is not known/,
    ],
    ['with wrong settings', () => zip({ 'app/settings.yaml': 'debug: 3' }), /apps\/app\/settings\.yaml:1:8/],
    ['with a wrong theme.yaml', () => zip({ 'a/theme.yaml': 'titel: x', 'a/layout.html': '' }), /theme\.yaml:1:1/],
    ['that holds neither', () => zip({ 'a/readme.txt': '' }), /holds no app .* and no theme/],
    [
      'with a broken catalogue of an app',
      () => zip({ ...block, 'app/locales/fr.yaml': 'a: [1]' }),
      /apps\/app\/locales\/fr\.yaml:1:4/,
    ],
    [
      'with a broken catalogue of a theme',
      () => zip({ 'a/layout.html': '', 'a/locales/fr.yaml': 'a: "{"' }),
      /locales\/fr\.yaml:1:4: .*cannot be read/,
    ],
    ['that holds both', () => zip({ 'blocks/a.html': '', 'rules.yaml': '' }), /side by side/],
    [
      'that leaves a hidden folder',
      () => zip({ ...block, 'app/.git/XXXXXXX.txt': '' }, renaming('app/.git/XXXXXXX.txt', 'app/.git/../../x.txt')),
      /leaves its folder/,
    ],
    [
      'with a path that has a dot for a folder',
      () => zip({ ...block, 'app/XX.txt': '' }, renaming('app/XX.txt', 'app/./.txt')),
      /has an empty part/,
    ],
    [
      'without a name that is an id',
      () => zip({ 'my app/blocks/a.html': '' }),
      /"my app" cannot be the id of an app; choose one with --id/,
    ],
    ['without files', () => zip({}), /holds no app/],
  ];
  test.each(cases)('%s', async (_, make, message) => {
    await make();
    const { code, err, json } = await run('import', 'in.zip', '--json');
    expect(json).toEqual({ problems: expect.arrayContaining([expect.stringMatching(message)]) });
    expect([code, err]).toEqual([1, expect.stringContaining('Nothing was written')]);
    expect(written().sort()).toEqual(before);
  });

  test.each<[args: string[], message: RegExp]>([
    [['export', 'club/none', 'x.zip'], /no app "none" in the theme "club"/],
    [['export', 'none', 'x.zip'], /no theme "none"/],
    [['export', 'club/../..', 'x.zip'], /no <theme> and no/],
    [['export', 'club/..', 'x.zip'], /cannot be the id of an app/],
    [['import', 'missing.zip'], /cannot be read as a ZIP/],
    [['import', 'text.zip'], /cannot be read as a ZIP/],
    [['import', 'short.zip'], /cannot be read as a ZIP/],
  ])('%j cannot run', async (args, message) => {
    await writeFile(at('text.zip'), 'no zip');
    await zip(block);
    await writeFile(at('short.zip'), (await readFile(at('in.zip'))).subarray(0, -30));
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    expect(existsSync(at('x.zip'))).toBe(false);
    expect(written().sort()).toEqual(before);
  });
});

test('types are written beside the definitions, and checked by TypeScript', async () => {
  const definition = `elements:
  choice: {type: SELECT, options: [red, blue], label: Your choice}
  stars: {type: NUMBER, required: true}
  mail: EMAIL
  sizes: {type: CHECKBOXES, options: [1, 2]}
  total: {type: BASIC, mode: COMPUTED_ON_SAVE}
  the-time: DATETIME
  like: ACTION
`;
  await writeFile(at('themes', 'club', 'apps', 'poll', 'blocks', 'vote.yaml'), definition);
  expect((await run('types', 'poll')).out).toContain('app.d.ts');
  const text = await readFile(at('themes', 'club', 'apps', 'poll', 'app.d.ts'), 'utf8');
  expect(text).toContain('  /** Your choice */\n  choice: "red" | "blue" | null;\n  stars: number;\n  mail: string;');
  const logic = `import type { VoteContext, VoteElement, VoteRecordContext } from '../app';
export function like({ record }: VoteContext) { record?.inc('stars', 1); return record?.total; }
export const on_save = ({ record }: VoteRecordContext): 'red' | 'blue' | null | undefined => record.choice;
export const mail = ({ record }: VoteRecordContext): string | undefined => record.mail?.trim();
export const wrong = ({ record }: VoteRecordContext): number | undefined => record.mail;
export const missing: VoteElement = 'none';
export const unguarded = ({ record }: VoteContext) => record.stars;
`;
  await symlink(path.join(repository, 'node_modules'), at('node_modules'));
  const file = at('themes', 'club', 'apps', 'poll', 'blocks', 'vote.ts');
  await writeFile(file, logic);
  expect(typeErrors(file).map((error) => error.replace(/:.*/s, ''))).toEqual(['5', '6', '7']);
  await cp(at('themes', 'club'), at('themes', 'other'), { recursive: true });
  expect((await run('types', 'other/poll', '--json')).json.written).toHaveLength(1);
  await writeFile(at('themes', 'other', 'apps', 'poll', 'app.d.ts'), 'own');
  expect(await run('types', '--theme', 'other')).toMatchObject({
    code: 2,
    err: expect.stringContaining('not overwritten'),
  });
});
