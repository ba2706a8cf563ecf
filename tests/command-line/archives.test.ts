import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { filesBelow } from '../../plugins/apps/server/src/archive/files';
import { runReused } from '../support/command-line';
import { writeFiles } from '../support/files';
import { useFolder } from '../support/hooks';
import { repository } from '../support/theme';
import { typeErrors } from '../support/typescript';
import { packed } from '../support/zip';
import { block, refusedZips } from './archives/zips';

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
  await writeFiles(at('themes', 'club'), files);
});

async function run(...args: string[]) {
  const { code, out, err } = await runReused([...args, '--themes', at('themes')], { cwd: at() });
  return { code, out, err, json: args.includes('--json') ? JSON.parse(out) : undefined };
}

/** Writes the ZIP that the tests import. */
const zip = async (...made: Parameters<typeof packed>) => writeFile(at('in.zip'), await packed(...made));

const written = async () => [
  ...(await filesBelow(at('themes'))),
  ...(existsSync(at('escaped.txt')) ? ['escaped.txt'] : []),
];
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
    expect((await written()).sort()).toEqual([...before, ...copied].sort());
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
    expect((await written()).sort()).toEqual(before);
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
    expect((await written()).sort()).toEqual(before);
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
  test.each(refusedZips(zip))('%s', async (_, make, message) => {
    await make();
    const { code, err, json } = await run('import', 'in.zip', '--json');
    expect(json).toEqual({ problems: expect.arrayContaining([expect.stringMatching(message)]) });
    expect([code, err]).toEqual([1, expect.stringContaining('Nothing was written')]);
    expect((await written()).sort()).toEqual(before);
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
    expect((await written()).sort()).toEqual(before);
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
