import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, program, runCli } from '../support/command-line';
import { useDatabase, useFolder } from '../support/hooks';
import { repository } from '../support/theme';

interface Mistake {
  title: string;
  /** Files by their path in a theme of its own. */
  files: Record<string, string | Buffer>;
  /** `<severity> <file>[:<line>[:<column>]] <message>` of every problem of the theme, in their order. */
  finds: (string | RegExp)[];
  cure?: RegExp;
}

const block = 'apps/a/blocks/b';
const layout = '<!doctype html><title>x</title><main class="page">{{ main }}</main>';

const mistakes: Mistake[] = [
  {
    title: 'an unknown key of a definition',
    files: { [`${block}.yaml`]: 'tagret: ajax' },
    finds: [/^error apps\/a\/blocks\/b.yaml:1:1 tagret: The key "tagret" is not known, did you mean "target"\?/],
  },
  {
    title: 'an unknown type',
    files: { [`${block}.yaml`]: 'elements:\n  name: TXET' },
    finds: [/^error apps\/a\/blocks\/b.yaml:2:9 .*TXET.*did you mean "TEXT"/],
  },
  {
    title: 'a key that a type does not take',
    files: { [`${block}.yaml`]: 'elements:\n  name: { type: TEXT, min: 3 }' },
    finds: [/^error apps\/a\/blocks\/b.yaml:2:23 elements.name.min: The key "min" is not known for the type TEXT/],
  },
  {
    title: 'a key twice',
    files: { [`${block}.yaml`]: 'target: ajax\ntarget: ajax' },
    finds: [/^error apps\/a\/blocks\/b.yaml:2:1 .*duplicated/],
  },
  {
    title: 'YAML that is not indented',
    files: { [`${block}.yaml`]: 'elements:\n  a: TEXT\n b: TEXT' },
    finds: [/^error apps\/a\/blocks\/b.yaml:3:/],
  },
  {
    title: 'an action without its function',
    files: {
      [`${block}.yaml`]: 'elements:\n  like: { type: ACTION, label: Like }',
      [`${block}.js`]: 'export function liek() {}',
    },
    finds: [
      'error apps/a/blocks/b.yaml:2:9 The ACTION "like" does nothing: blocks/b.js has no function "like", did you mean "liek"?',
    ],
    cure: /^Write `export function like\(context\) \{ … \}` in blocks\/b\.js\.$/,
  },
  {
    title: 'a BASIC of a block without logic',
    files: { [`${block}.yaml`]: 'elements: { total: BASIC }', [`${block}.html`]: '{total}' },
    finds: ['error apps/a/blocks/b.yaml:1:20 The BASIC "total" does nothing: the block has no logic file'],
  },
  {
    title: 'a BASIC without its Python function',
    files: { [`${block}.yaml`]: 'elements: { total: BASIC }', [`${block}.py`]: 'def other(context):\n    return 1\n' },
    finds: ['error apps/a/blocks/b.yaml:1:20 The BASIC "total" does nothing: blocks/b.py has no function "total"'],
    cure: /^Write `def total\(context\): …`/,
  },
  {
    title: 'a computed value without its function',
    files: { [`${block}.yaml`]: 'elements:\n  at: { type: BASIC, mode: COMPUTED_ON_SAVE }' },
    finds: ['error apps/a/blocks/b.yaml:2:7 The BASIC "at" is never computed: the block has no logic file'],
  },
  {
    title: 'a choice without options',
    files: {
      [`${block}.yaml`]: 'elements: { day: RADIO }',
      [`${block}.ts`]: 'export function day_option(): string[] { return []; }',
    },
    finds: [
      'error apps/a/blocks/b.yaml:1:18 The RADIO "day" has no options: blocks/b.ts has no function "day_options", did you mean "day_option"?',
    ],
  },
  {
    title: 'an element that is not declared, in braces and in Liquid',
    files: {
      [`${block}.yaml`]: 'elements: { name: TEXT }',
      [`${block}.html`]:
        '{% comment %}{nothing}{% endcomment %}\n<p>{nmae} {1}</p>\n{% if elements.other %}{name}{_save}{% endif %}\n<style>p {color}</style>',
    },
    finds: [
      'error apps/a/blocks/b.html:2:4 There is no element "nmae", did you mean "name"?',
      'error apps/a/blocks/b.html:3:7 There is no element "other"',
    ],
    cure: /^Declare it under "elements" in blocks\/b.yaml\.$/,
  },
  {
    title: 'Liquid without its end',
    files: { [`${block}.html`]: '<p>\n{% if context.user %}\n</p>' },
    finds: [/^error apps\/a\/blocks\/b.html:2:1 .*not closed/],
  },
  {
    title: 'a syntax error in JavaScript',
    files: { [`${block}.js`]: 'export function a() {\n  return 1 +;\n}' },
    finds: [/^error apps\/a\/blocks\/b.js:2:13 SyntaxError/],
  },
  {
    title: 'a syntax error in TypeScript',
    files: { [`${block}.ts`]: 'export function a(): string {\n  return "x"\n' },
    finds: [/^error apps\/a\/blocks\/b.ts:3:1 SyntaxError/],
  },
  {
    title: 'a syntax error in Python',
    files: { [`${block}.py`]: 'def a(context):\n    if context.app\n        return 1\n' },
    finds: [/^error apps\/a\/blocks\/b.py:2:19 .*":" is missing at the end of "if"/],
  },
  {
    title: 'an import of a file that does not exist',
    files: { [`${block}.js`]: "import { x } from '../lib/x';\nexport const a = () => x;" },
    finds: [/^error apps\/a\/blocks\/b.js:1:19 Cannot import '..\/lib\/x'/],
  },
  {
    title: 'a broken module of two blocks, once',
    files: {
      'apps/a/lib/x.js': 'export const x = ;',
      [`${block}.js`]: "import '../lib/x';",
      'apps/a/blocks/c.js': "import '../lib/x';",
    },
    finds: [/^error apps\/a\/lib\/x.js:1:18 SyntaxError/],
  },
  {
    title: 'logic that fails while it is loaded',
    files: { [`${block}.js`]: 'const list = null;\nexport const first = list[0];' },
    finds: [/^error apps\/a\/blocks\/b.js:2 TypeError/],
  },
  {
    title: 'logic without an end',
    files: { [`${block}.js`]: 'for (;;);' },
    finds: [/^error apps\/a\/blocks\/b(.js:1)?(:\d+)? .*2000 ms/],
  },
  {
    title: 'a misspelt function of an event',
    files: { [`${block}.js`]: 'export function on_dispaly() {}' },
    finds: ['warning apps/a/blocks/b.js Nothing calls the function "on_dispaly", did you mean "on_display"?'],
  },
  {
    title: 'two logic files of one block',
    files: { [`${block}.js`]: '', [`${block}.py`]: '' },
    finds: [/^error apps\/a\/blocks\/b.py The block has two logic files/],
  },
  {
    title: 'an index with two types',
    files: {
      [`${block}.yaml`]: 'elements: { n: { type: TEXT, index_type: field } }',
      'apps/a/blocks/c.yaml': 'elements: { n: { type: TEXT, index_type: text } }',
    },
    finds: [/^error apps\/a\/blocks\/c.yaml:1:16 .*"n" is field in blocks\/b.yaml and cannot be text/],
  },
  {
    title: 'a file that is not UTF-8',
    files: { [`${block}.html`]: Buffer.from([0x3c, 0xff, 0x3e]) },
    finds: ['error apps/a/blocks/b.html The file is not UTF-8 text'],
  },
  {
    title: 'an unknown key of the settings',
    files: { 'apps/a/settings.yaml': 'debgu: true', [`${block}.html`]: '' },
    finds: [/^error apps\/a\/settings.yaml:1:1 debgu: .*did you mean "debug"/],
  },
  {
    title: 'a right that is no list',
    files: { 'apps/a/settings.yaml': 'acl:\n  rights:\n    reader: "*"', [`${block}.html`]: '' },
    finds: [/^error apps\/a\/settings.yaml:3:13 acl.rights.reader: .*such as \["\*"\]/],
  },
  {
    title: 'an unknown key of theme.yaml',
    files: { 'theme.yaml': 'titel: x' },
    finds: [/^error theme.yaml:1:1 titel: .*did you mean "title"/],
  },
  {
    title: 'rules with mistakes',
    files: {
      'layout.html': layout,
      [`${block}.html`]: '<i class="own"></i>',
      'rules.yaml': [
        '- append: .page',
        '  include: /@@apps/a/blocks/b',
        '- append: .own',
        '  include: /@@apps/a/blocks/b',
        '- append: .pgae',
        '  include: /@@apps/a/blocks/b',
        '- after: "main["',
        '  include: /@@apps/a/blocks/b',
        '- after: main',
        '  include: /@@apps/aa/blocks/b',
        '- after: main',
        '  include: /@@apps/a/blocks/c',
        '- include: /@@apps/a/blocks/b',
      ].join('\n'),
    },
    finds: [
      'warning rules.yaml:5:3 The selector ".pgae" of the rule matches nothing in the theme\'s layout, templates and blocks',
      /^error rules.yaml:7:10 .*This is not a CSS selector/,
      'error rules.yaml:9:3 There is no app "aa" in this site, did you mean "a"?',
      'error rules.yaml:11:3 There is no block "c" in the app "a", did you mean "b"?',
      /^error rules.yaml:13:3 .*A rule needs exactly one of/,
    ],
  },
  {
    title: 'a tag that names no block',
    files: {
      'layout.html': `${layout}\n{% block "a/blocks/c" %}{% block 'b' %}{% block tile.block %}`,
      [`${block}.html`]: '',
    },
    finds: [
      'error layout.html:2:11 There is no block "c" in the app "a", did you mean "b"?',
      'error layout.html:2:35 "b" names no block: write <app>/blocks/<block>',
    ],
  },
  {
    title: 'links that lead nowhere',
    files: { 'apps/x.lnk': 'nowhere', 'apps/y.lnk': 'two words', 'apps/a.lnk': 'x', [`${block}.html`]: '' },
    finds: [
      'warning apps/a.lnk:1:1 The link is ignored: the theme "m28" has the app "a" itself',
      'error apps/x.lnk:1:1 The link m28 -> nowhere for the app "x" leads to no such app',
      'error apps/y.lnk:1:1 The link m28 for the app "y" does not hold the id of a theme',
    ],
  },
  {
    title: 'a folder whose name is no id',
    files: { 'apps/my app/blocks/b.html': '' },
    finds: ['error apps/my app "my app" cannot be the id of an app: it is never found'],
  },
  {
    title: 'keys that a theme for Rapido may have',
    files: { 'theme.yaml': 'rapido: true', [`${block}.yaml`]: 'id: b' },
    finds: [/^warning apps\/a\/blocks\/b.yaml:1:1 id: The key "id" is not known/],
  },
  {
    title: 'nothing wrong with what is declared for its index, and with built-in actions',
    files: {
      [`${block}.yaml`]:
        'elements:\n  total: { type: BASIC, index_type: field }\n  _save: { label: Go }\n  s: { type: SELECT, options: [1] }',
      [`${block}.html`]: '{_save}{s}',
    },
    finds: [],
  },
  {
    title: 'broken catalogues of an app and of its theme, each once',
    files: {
      'locales/de.yaml': 'a:\n  b: "{"',
      'locales/en.yaml': 'a: fine',
      'apps/a/locales/fr.yaml': 'a: 1',
      [`${block}.html`]: '',
    },
    finds: [/^error apps\/a\/locales\/fr.yaml:1:4 .*A message is text/, /^error locales\/de.yaml:2:6 .*cannot be read/],
  },
  {
    title: 'messages for texts that no definition has',
    files: {
      [`${block}.yaml`]:
        'pages: [{ title: A, elements: [name] }]\nelements: { name: TEXT, day: { type: RADIO, options: [mon] }, _save: { label: Go } }',
      [`${block}.html`]: '{_pages}{day}',
      'apps/a/locales/de.yaml': [
        'blocks:',
        '  b:',
        '    titel: B',
        '    pages: { 1: Eins, 2: Zwei }',
        '    elements:',
        '      nam: { label: Name }',
        '      name: { lable: Name }',
        '      day: { options: { mon: Montag, tue: Dienstag } }',
        '      _save: { label: Los }',
        '  c: { title: C }',
      ].join('\n'),
    },
    finds: [
      'warning apps/a/locales/de.yaml:3:5 This message is never shown: there is no text "titel", did you mean "title"?',
      'warning apps/a/locales/de.yaml:4:23 This message is never shown: there is no page "2", did you mean "1"?',
      'warning apps/a/locales/de.yaml:6:7 This message is never shown: there is no element "nam", did you mean "name"?',
      'warning apps/a/locales/de.yaml:7:15 This message is never shown: there is no text "lable", did you mean "label"?',
      'warning apps/a/locales/de.yaml:8:38 This message is never shown: there is no option "tue"',
      'warning apps/a/locales/de.yaml:10:3 This message is never shown: there is no block "c", did you mean "b"?',
    ],
  },
  {
    title: 'a choice of a repeated group without options',
    files: { [`${block}.yaml`]: 'elements: { guests: { type: REPEAT, elements: { meal: SELECT } } }' },
    finds: ['error apps/a/blocks/b.yaml:1:55 The SELECT "guests_meal" has no options: the block has no logic file'],
  },
  {
    title: 'pages without a place, and with one',
    files: {
      [`${block}.yaml`]: 'pages: [{ title: A, elements: [name] }]\nelements: { name: TEXT }',
      [`${block}.html`]: '{name}{_save}',
      'apps/a/blocks/c.yaml': 'pages: [{ title: A, elements: [name] }]\nelements: { name: TEXT }',
      'apps/a/blocks/c.html': '{_pages}',
    },
    finds: [
      'error apps/a/blocks/b.html The form has pages, and its layout no place for them: all fields are on one page',
    ],
    cure: /^Write `\{_pages\}` in the layout\.$/,
  },
];

const at = useFolder('lint');

async function writeAll(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

interface Found {
  severity: string;
  theme: string;
  file: string;
  line: number | null;
  column: number | null;
  message: string;
  excerpt: string | null;
  cure: string | null;
}

describe('mistakes', () => {
  let found: Found[];
  let ended: Ended;
  beforeAll(async () => {
    for (const [index, { files }] of mistakes.entries()) {
      // A theme without an app would not be a folder.
      await writeAll(at('themes', `m${index}`), files);
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
    const { code, out } = await runCli(['lint', 'm5/a', '--themes', 'themes'], { cwd: at() });
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
    const ended = await runCli(['lint', target, '--themes', 'themes'], { cwd: at() });
    expect([ended.code, ended.out + ended.err]).toEqual([code, expect.stringMatching(text)]);
  });
});

test('the themes of the repository have no mistakes, also in their types', async () => {
  const { code, out } = await runCli(['lint', '--types', '--json'], { cwd: repository });
  expect([code, JSON.parse(out).problems]).toEqual([0, []]);
});

test('types of TypeScript logic are checked with --types', async () => {
  const logic =
    "import type { Context } from 'strapi-plugin-apps/context';\nexport const n = (context: Context): number => context.app.idd;\nfunction show() { console.log(new URL('https://a.example').host, atob('YQ==')); }\n";
  const tests =
    "import { assert, app, test } from 'strapi-plugin-apps/testing';\ntest('x', async () => assert.ok(await app.vist('blocks/b')));\n";
  await writeAll(at('typed/default/apps/a'), {
    'tests/b.test.ts': tests,
    'blocks/b.ts': logic,
    'blocks/b.yaml': 'elements: { n: BASIC }',
  });
  const lint = (...options: string[]) =>
    runCli(['lint', '--themes', 'typed', '--dir', repository, '--json', ...options], { cwd: at() });
  expect(JSON.parse((await lint()).out).problems).toEqual([]);
  const { code, out } = await lint('--types');
  expect([code, JSON.parse(out).problems]).toMatchObject([
    1,
    [
      {
        file: 'typed/default/apps/a/blocks/b.ts',
        line: 2,
        column: 60,
        message: expect.stringMatching(/'idd' does not exist/),
      },
      {
        file: 'typed/default/apps/a/tests/b.test.ts',
        line: 2,
        message: expect.stringMatching(/'vist' does not exist on type 'TestedApp'/),
      },
    ],
  ]);
});

describe('names in acl', () => {
  const database = useDatabase('sqlite');

  test('are looked up in the host with --host', async () => {
    const settings = 'acl:\n  rights:\n    reader: [Authentcated, Public, "*"]';
    await writeAll(at('named/default/apps/a'), { 'settings.yaml': settings, 'blocks/b.html': '' });
    const args = ['lint', '--themes', 'named', '--dir', repository, '--json'];
    const env = { ...database().address.env, APPS_DEMO: 'false', NODE_ENV: 'test' };
    const without = JSON.parse((await runCli(args, { cwd: at() })).out);
    expect([without.problems, without.notes]).toEqual([[], [expect.stringContaining('--host')]]);
    const { code, out, err } = await runCli([...args, '--host'], { cwd: at(), env });
    expect(code, err).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      notes: [],
      problems: [{ line: 3, message: 'No user and no role is called "Authentcated", did you mean "Authenticated"?' }],
    });
  });
});
