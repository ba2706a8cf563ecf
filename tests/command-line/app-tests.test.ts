import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TestResult } from '../../plugins/apps/shared/test-events';
import { program, runCli, runReused } from '../support/command-line';
import { writeFiles } from '../support/files';
import { useFolder } from '../support/hooks';
import { repository } from '../support/theme';

/** Outside of the repository, as themes of another host are. */
const at = useFolder('app-tests', async (folder) => {
  await cp(path.join(repository, 'tests', 'fixtures', 'app-tests', 'themes'), folder, { recursive: true });
  const syntax = path.join(folder, 'main', 'apps', 'wrong', 'tests', 'syntax.test.ts');
  await writeFile(
    syntax,
    "import { test } from 'strapi-plugin-apps/testing';\n\ntest('a', () => {\n  const = 1;\n});\n",
  );
});

/** The host's own database is another one, and cannot be reached. */
const elsewhere = { DATABASE_CLIENT: 'postgres', DATABASE_PORT: '1', NODE_ENV: 'development' };

/** Runs `strapi-plugin-apps test` to its end. */
const run = (args: string[], env: Record<string, string> = {}) =>
  runCli(['test', ...args], { cwd: repository, env: { ...elsewhere, ...env } });

interface Report {
  passed: number;
  failed: number;
  skipped: number;
  tests: TestResult[];
}

test('the apps of the demo pass their tests, and nothing else is printed', async () => {
  const { code, out, err } = await run([]);
  expect(err).toBe('');
  expect(out).toMatch(/\n\d+ passed, 0 failed \(\d+\.\d s\)\n$/);
  for (const app of ['card', 'comments', 'contact', 'delivery', 'glossary', 'news', 'poll', 'rating', 'survey'])
    expect(out).toMatch(new RegExp(`^✔ ${app} › .* \\(\\d+ ms\\)$`, 'm'));
  expect(out.split('\n').filter((line) => !/^✔ .* ms\)$/.test(line))).toHaveLength(3);
  expect(code).toBe(0);
}, 120_000);

describe('the apps of another themes folder', () => {
  let code: number | null;
  let report: Report;
  let printed: string;
  beforeAll(async () => {
    const env = { APPS_THEME: 'main' };
    const [asJson, asText] = await Promise.all([
      run(['--themes', at(), '--json'], env),
      run(['wrong', '--themes', at(), '--name', 'logic that fails'], env),
    ]);
    expect(asJson.err).toBe('');
    report = JSON.parse(asJson.out) as Report;
    code = asJson.code;
    printed = asText.out;
  }, 400_000);

  const of = (app: string, title: string) => report.tests.find((one) => one.app === app && one.title.at(-1) === title);

  test('with a failed test the program ends with 1, and counts', () => {
    const { passed, failed, skipped, tests } = report;
    expect({ code, passed, failed, skipped }).toEqual({ code: 1, passed: 22, failed: 26, skipped: 2 });
    expect(tests.filter(({ app }) => app !== 'wrong').map(({ status }) => status)).not.toContain('failed');
    expect(tests.every(({ milliseconds }) => milliseconds >= 0)).toBe(true);
  });

  test('a test inside a group has the titles of both', () => {
    expect(of('times', 'but for a test inside another')).toMatchObject({
      file: 'tests/clock.test.js',
      title: ['after that', 'nothing is there', 'but for a test inside another'],
      status: 'passed',
    });
  });

  const failing: [title: string, message: RegExp][] = [
    ['an assertion', /2 !== 3/],
    [
      'logic that fails when a form is saved',
      /blocks\/saves failed with status 500: LogicError .*saves\.ts:8: TypeError/,
    ],
    ['an element that fails as JSON', /status 500: LogicError .*saves\.ts:13: BadRequestError: .*"colour"/],
    ['an element that fails in a page', /there is an error mark[\s\S]*<span class="apps-error"/],
    ['Python that fails', /status 500: LogicError apps\/wrong\/blocks\/snake\.py:2: ZeroDivisionError/],
    ['a layout that is broken', /status 500: DefinitionError apps\/wrong\/blocks\/layout\.html:2:6: /],
    ['a definition that is broken', /defined\.yaml:3:11: .*"NUMBRE" is not known/],
    ['a field that does not exist', /block "saves" has no field "nam"\. It has: name, size$/],
    ['an option that is not offered', /field "size" has no option "huge"\. It has: small, large$/],
    ['a button that does not exist', /block "saves" has no button "lst"\. It has: _save, list$/],
    ['a button that is not named', /Say which button of the block "two-buttons" is pressed.* It has: first, second$/],
    ['a page without a form', /no form on the block "nothing" \(status 404\): .*There is no block "nothing"/],
    ['an element without a block', /"count" is not <block>\/<element>/],
    ['a content type that the host lacks', /no content type "api::artcle\.article"\. It has: api::article\.article/],
    ['content that the host refuses', /app\.content\.create\('api::article\.article'\): title: /],
    ['a time that is none', /"yesterday" is not a time/],
    ['a user in two groups', /one role, so "anna" cannot be in authors and editors/],
    ['a visitor that is none', /app\.as takes 'anonymous' or \{ user, groups \}, not "anna"/],
    ['a selector that is none', /"p\[" is not a CSS selector/],
    ['a job that fails', /Expected values to be strictly deep-equal/],
    ['a group whose code fails', /prices is not defined/],
    ['is cancelled', /cancelled/],
    ['a thrown text', /The test has thrown no error/],
    ['tests/empty.test.js is loaded', /The file has no test/],
    ['tests/imports.test.js is loaded', /Cannot find "\.\.\/lib\/gone"/],
    ['tests/syntax.test.ts is loaded', /SyntaxError: .*syntax\.test\.ts: Unexpected token.*\(3:14\)/],
  ];

  test.each(failing)('%s is reported', (title, message) => {
    expect(of('wrong', title)).toMatchObject({
      status: 'failed',
      failure: { message: expect.stringMatching(message) },
    });
  });

  test('every failed test is in the table', () => {
    const failed = report.tests.filter(({ status }) => status === 'failed').map(({ title }) => title.at(-1));
    expect(failed.sort()).toEqual(failing.map(([title]) => title).sort());
  });

  test.each([
    ['logic that fails when a form is saved', 'apps/wrong/blocks/saves.ts:8', '8 |   const { name } = record'],
    ['an element that fails in a page', 'apps/wrong/blocks/saves.ts:17', "17 |   throw new Error('no next page');"],
    ['Python that fails', 'apps/wrong/blocks/snake.py:2', '2 |     return 1 / len('],
    ['a job that fails', 'apps/wrong/blocks/late.js:6', "6 |   throw new Error('too late');"],
    ['a definition that is broken', 'apps/wrong/blocks/defined.yaml:3:11', '3 |     type: NUMBRE\n              ^'],
  ])('%s shows the line of the block', (title, position, excerpt) => {
    const errors = of('wrong', title)?.failure?.errors;
    expect(errors).toContainEqual(expect.objectContaining({ at: position, excerpt: expect.stringContaining(excerpt) }));
  });

  test('a failure names the line of the test', () => {
    const [place] = of('wrong', 'an assertion')?.failure?.at ?? [];
    expect(place).toMatchObject({ line: 7, excerpt: expect.stringContaining('assert.equal(page.findAll') });
    expect(place?.file).toMatch(/failing\.test\.ts$/);
  });

  test('the output for people has both lines, and leaves out tests of other titles', () => {
    expect(printed).toMatch(/^ {2}at \S*failing\.test\.ts:11:3$/m);
    expect(printed).toContain('  at apps/wrong/blocks/saves.ts:8\n      8 |   const { name } = record');
    expect(printed).not.toContain('an assertion');
    // Files that do not load are reported in any case.
    expect(printed).toMatch(/\n0 passed, 5 failed \(/);
  });
});

test('the starter and every template bring tests that pass', async () => {
  const themes = path.join(at(), 'made');
  const make = async (...args: string[]) => {
    // As npm starts them, they are tested in files.test.ts and templates.test.ts.
    const { code, err } = await runReused([...args, '--themes', themes], { cwd: repository });
    expect([code, err]).toEqual([0, expect.anything()]);
  };
  await make('init');
  const templates = await readdir(path.join(repository, 'plugins', 'apps', 'app-templates'));
  for (const template of templates)
    await make('new', 'app', `my-${template}`, '--from', template, '--theme', 'default');
  const { code, out } = await run(['--themes', themes], { APPS_THEME: 'default' });
  expect([code, out]).toEqual([0, expect.stringMatching(/\n\d+ passed, 0 failed/)]);
  for (const app of ['guestbook', ...templates.map((template) => `my-${template}`)])
    expect(out).toContain(`✔ ${app} ›`);
}, 120_000);

describe('tests without an end', () => {
  const env = { APPS_THEME: 'slow' };
  const themes = () => at('slow-themes');
  beforeAll(async () => {
    const loops = `test('loops', () => {
  writeFileSync(${JSON.stringify(at('pid'))}, String(process.pid));
  for (;;);
});
`;
    const head =
      "import { writeFileSync } from 'node:fs';\nimport { before, describe, test } from 'strapi-plugin-apps/testing';\n";
    await writeFiles(themes(), {
      'slow/layout.html': '{{ main }}',
      'slow/apps/late/tests/late.test.js': `${head}
test('waits', () => new Promise(() => {}));
test('has its own limit', { timeout: 50 }, () => new Promise(() => {}));
test('goes on', () => {});
describe('a group', () => {
  before(() => new Promise(() => {}));
  test('waits for its hook', () => {});
});
${loops}`,
      'slow/apps/busy/tests/busy.test.js': head + loops,
    });
  });

  test('fail, and one that keeps the process busy ends it, by its name', async () => {
    const { code, out, err } = await run(['late', '--themes', themes(), '--timeout', '2'], env);
    expect(out).toMatch(/^✖ late › waits \(2\d{3} ms\)\n✖ late › has its own limit \(\d{2,3} ms\)\n✔ late › goes on /);
    expect(out).toMatch(/✖ late › a group › waits for its hook/);
    expect([code, err]).toEqual([2, 'error: The test late › loops has kept the process busy for more than 2 s\n']);
  }, 120_000);

  test('leave no process after the command is ended', async () => {
    await writeFile(at('pid'), '');
    const args = [program, 'test', 'busy', '--themes', themes()];
    const child = spawn(process.execPath, args, {
      cwd: repository,
      env: { ...process.env, ...elsewhere, ...env },
      stdio: 'ignore',
    });
    const pid = () => readFile(at('pid'), 'utf8');
    await expect.poll(pid, { timeout: 100_000 }).toMatch(/\d/);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
    const isThere = process.kill.bind(process, Number(await pid()), 0);
    expect(isThere).toThrow('ESRCH');
  }, 120_000);
});

test('with --watch a change during a run starts another one at its end', async () => {
  await writeFiles(at('watched'), {
    'slow/layout.html': '{{ main }}',
    'slow/apps/a/tests/a.test.js': `import { writeFileSync } from 'node:fs';
import { test } from 'strapi-plugin-apps/testing';
test('waits', async () => {
  writeFileSync(${JSON.stringify(at('begun'))}, 'begun');
  await new Promise((done) => setTimeout(done, 1500));
});
`,
  });
  const args = [program, 'test', '--themes', at('watched'), '--watch'];
  const env = { ...process.env, ...elsewhere, APPS_THEME: 'slow' };
  const child = spawn(process.execPath, args, { cwd: repository, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  const begun = () => readFile(at('begun'), 'utf8').catch(() => '');
  await expect.poll(begun, { timeout: 100_000 }).toBe('begun');
  await writeFiles(at('watched'), { 'slow/layout.html': '<main>{{ main }}</main>' });
  await expect.poll(() => out.match(/1 passed/g)?.length, { timeout: 100_000 }).toBe(2);
  child.kill();
  await once(child, 'close');
}, 240_000);

// What else cannot be tested ends it in the same way: the messages are in testing/src/files.test.ts.
test.each([
  ['a site that the host lacks', ['--site', 'other'], 'has no site "other"'],
  ['a pattern that is none', ['--name', '('], '--name: Invalid regular expression'],
  ['a time limit that is none', ['--timeout', '0'], '--timeout: this must be a whole number of seconds'],
])('%s ends the program with 2', async (_title, args, message) => {
  const { code, err } = await run(args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});
