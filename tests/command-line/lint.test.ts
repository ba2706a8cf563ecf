import { spawn } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LintProblem } from '../../plugins/apps/server/src/apps/lint/problem';
import { type Ended, program, runCli, runReused } from '../support/command-line';
import { writeFiles } from '../support/files';
import { useDatabase, useFolder } from '../support/hooks';
import { repository } from '../support/theme';
import { blocks } from './lint/blocks';
import { silent } from './lint/silent';
import { themes } from './lint/themes';

/** Each in a theme of its own, `m0`, `m1` and so on. */
const mistakes = [...blocks, ...themes, ...silent];

const at = useFolder('lint');

describe('mistakes', () => {
  let found: LintProblem[];
  let ended: Ended;
  beforeAll(async () => {
    for (const [index, { files }] of mistakes.entries()) {
      // A theme without an app would not be a folder.
      await writeFiles(at('themes', `m${index}`), files);
    }
    ended = await runCli(['lint', '--json', '--themes', 'themes'], { cwd: at() });
    found = JSON.parse(ended.out).problems;
  });

  test.each(mistakes.map((mistake, index) => ({ ...mistake, index })))('$title', ({ index, finds, cure }) => {
    const own = found.filter(({ theme }) => theme === `m${index}`);
    const lines = own.map(({ severity, file, line, column, message }) => {
      const place = [file.replace(`themes/m${index}/`, ''), line, column].filter((part) => part !== null).join(':');
      return `${severity} ${place} ${message}`;
    });
    expect(lines).toEqual(finds.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))));
    if (cure) expect(own[0]?.cure).toMatch(cure);
  });

  test('are counted, and end with 1', () => {
    const { errors, warnings, themes } = JSON.parse(ended.out);
    expect(ended.code).toBe(1);
    expect([errors, warnings]).toEqual(
      ['error', 'warning'].map((kind) => found.filter(({ severity }) => severity === kind).length),
    );
    expect(themes).toBe(mistakes.length);
  });

  test('end with 1 also where the reader of the output has ended', async () => {
    const child = spawn(process.execPath, [program, 'lint', '--themes', 'themes'], { cwd: at() });
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await new Promise((done) => child.once('close', done))).toBe(1);
  });

  test('of one app are shown with excerpt and cure', async () => {
    const { code, out } = await runReused(['lint', 'm5/a', '--themes', 'themes'], { cwd: at() });
    expect(code).toBe(1);
    expect(
      out,
    ).toBe(`themes/m5/apps/a/blocks/b.yaml:2:9: error: The ACTION "like" does nothing: blocks/b.js has no function "like", did you mean "liek"?
  2 |   like: { type: ACTION, label: Like }
              ^
  cure: Write \`export function like(context) { … }\` in blocks/b.js.

1 error, 0 warnings in 1 theme, 1 app, 1 block (${/\((.*) s\)/.exec(out)?.[1]} s)
`);
  });

  test.each<[target: string, code: number, text: RegExp]>([
    ['m19', 0, /0 errors, 1 warning in 1 theme/],
    ['m31', 0, /No problems in 1 theme, 1 app, 1 block/],
    ['m31/a', 0, /No problems/],
    ['m99', 2, /There is no theme and no app "m99", did you mean "m\d+"\?/],
    ['m31/b', 2, /There is no theme and no app "m31\/b"/],
    ['m31/a/b', 2, /There is no theme and no app/],
  ])('the target %s ends with %i', async (target, code, text) => {
    const ended = await runReused(['lint', target, '--themes', 'themes'], { cwd: at() });
    expect([ended.code, ended.out + ended.err]).toEqual([code, expect.stringMatching(text)]);
  });
});

test('schedules are told in words', async () => {
  await writeFiles(at('scheduled/default/apps/a'), {
    'blocks/b.yaml':
      "schedules:\n  - { run: send, cron: '0 6 * * 1-5', time_zone: Europe/Paris }\n  - { run: send, cron: '*/30 * * * * *' }",
    'blocks/b.js': 'export function send() {}',
  });
  const args = ['lint', '--themes', 'scheduled'];
  const { code, out, err } = await runReused(args, { cwd: at() });
  expect(code).toBe(0);
  const file = 'scheduled/default/apps/a/blocks/b.yaml';
  expect(out + err).toContain(`${file}:2:5: send: At 06:00, Monday through Friday, Europe/Paris\n`);
  expect(out + err).toContain(`${file}:3:5: send: Every 30 seconds, the site's time zone\n`);
  const { schedules } = JSON.parse((await runReused([...args, '--json'], { cwd: at() })).out);
  expect(schedules[0]).toEqual({
    file,
    line: 2,
    column: 5,
    block: 'b',
    run: 'send',
    cron: '0 6 * * 1-5',
    words: 'At 06:00, Monday through Friday, Europe/Paris',
  });
});

test('the themes of the repository have no mistakes, also in their types', async () => {
  const { code, out } = await runReused(['lint', '--types', '--json'], { cwd: repository });
  expect([code, JSON.parse(out).problems]).toEqual([0, []]);
});

test('types of TypeScript logic are checked with --types', async () => {
  const logic =
    "import type { Context } from 'strapi-plugin-apps/context';\nexport const n = (context: Context): number => context.app.id;\nfunction show() { console.log(new URL('https://a.example').host, atob('YQ==')); }\n";
  const tests =
    "import { assert, app, test } from 'strapi-plugin-apps/testing';\ntest('x', async () => assert.ok(await app.vist('blocks/b')));\n";
  await writeFiles(at('typed/default/apps/a'), {
    'tests/b.test.ts': tests,
    'blocks/b.ts': logic,
    'blocks/b.yaml': 'elements: { n: BASIC }',
  });
  const lint = (...options: string[]) =>
    runReused(['lint', '--themes', 'typed', '--dir', repository, '--json', ...options], { cwd: at() });
  expect(JSON.parse((await lint()).out).problems).toEqual([]);
  const { code, out } = await lint('--types');
  expect([code, JSON.parse(out).problems]).toMatchObject([
    1,
    [
      {
        file: 'typed/default/apps/a/blocks/b.ts',
        line: 2,
        column: 48,
        message: expect.stringMatching(/'string' is not assignable to type 'number'/),
      },
      {
        file: 'typed/default/apps/a/tests/b.test.ts',
        line: 2,
        message: expect.stringMatching(/'vist' does not exist on type 'TestedApp'/),
      },
    ],
  ]);
});

test('logic that tsconfig.json leaves out is named with --types', async () => {
  await writeFiles(at('left-out/default'), {
    'tsconfig.json': '{ "include": ["other/**/*.ts"] }',
    'apps/a/blocks/b.ts': 'export const n = (): number => "";\n',
    'apps/a/lib/c.ts': '',
    'apps/a/app.d.ts': '',
  });
  const args = ['lint', '--themes', 'left-out', '--dir', repository, '--json', '--types'];
  const { problems, notes } = JSON.parse((await runReused(args, { cwd: at() })).out);
  expect([problems, notes]).toEqual([
    [],
    expect.arrayContaining([
      'left-out/default/tsconfig.json does not include left-out/default/apps/a/blocks/b.ts and 1 more: their types are not checked.',
    ]),
  ]);
});

describe('names in acl', () => {
  const database = useDatabase('sqlite');

  test('are looked up in the host with --host', async () => {
    const settings = 'acl:\n  rights:\n    reader: [Authentcated, Public, "*"]\nschedule_as: [Authenticated, Editor]';
    await writeFiles(at('named/default/apps/a'), { 'settings.yaml': settings, 'blocks/b.html': '' });
    const args = ['lint', '--themes', 'named', '--dir', repository, '--json'];
    const env = { ...database().address.env, APPS_DEMO: 'false', NODE_ENV: 'test' };
    const without = JSON.parse((await runReused(args, { cwd: at() })).out);
    expect([without.problems, without.notes]).toEqual([[], [expect.stringContaining('--host')]]);
    const { code, out, err } = await runReused([...args, '--host'], { cwd: at(), env });
    expect(code, err).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      notes: [],
      problems: [
        { line: 3, message: 'No user and no role is called "Authentcated", did you mean "Authenticated"?' },
        { line: 4, message: 'No role is called "Editor"' },
      ],
    });
  });
});
