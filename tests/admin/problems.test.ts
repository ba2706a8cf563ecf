import { describe, expect, test } from 'vitest';
import type { AppDetail, Overview } from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, openStage } from '../support/stage';

const value = 'elements:\n  value: BASIC\n';
const action = 'elements:\n  go: { type: ACTION, label: Go }\n';
const page = '<p>{value}</p>';

interface Broken {
  files: Record<string, string>;
  /** An action before the problem shows; without it the files alone show it. */
  use?: { send: string; form?: Record<string, string>; accept?: string };
  /** The problem: the end of its file, its line, a part of its message. */
  file: string;
  line?: number;
  message: RegExp;
}

/** Blocks that are broken in one way each, and the panel's message. */
const broken: Record<string, Broken> = {
  py_syntax: {
    files: { yaml: value, html: page, py: 'def value(context)\n    return 1\n' },
    file: 'py',
    line: 1,
    message: /invalid syntax/,
  },
  py_indent: {
    files: { yaml: value, html: page, py: 'def value(context):\nreturn 1\n' },
    file: 'py',
    line: 2,
    message: /SyntaxError|indent/,
  },
  py_import: { files: { yaml: value, py: 'import nowhere\n' }, file: 'py', line: 1, message: /nowhere/ },
  py_top: { files: { yaml: value, py: 'x = 1\ny = x / 0\n' }, file: 'py', line: 2, message: /divi/ },
  js_syntax: { files: { yaml: value, js: 'export function value( {' }, file: 'js', line: 1, message: /./ },
  js_top: { files: { yaml: value, js: '\nthrow new Error("at once");' }, file: 'js', line: 2, message: /at once/ },
  layout: { files: { yaml: value, html: 'one\n{% if x %}' }, file: 'html', line: 2, message: /./ },
  definition: {
    files: { yaml: 'elements:\n  value: BASIK\n' },
    file: 'yaml',
    line: 2,
    message: /did you mean "BASIC"/,
  },
  js_run: {
    files: { yaml: value, html: page, js: 'export function value() {\n  throw new Error("boom");\n}\n' },
    use: { send: 'GET :block', accept: html },
    file: 'js',
    line: 2,
    message: /boom/,
  },
  py_run: {
    files: { yaml: value, html: page, py: 'def value(context):\n    return missing\n' },
    use: { send: 'GET :block', accept: html },
    file: 'py',
    line: 2,
    message: /missing/,
  },
  element: {
    files: { yaml: value, js: 'export function value() {\n  return null.x;\n}\n' },
    use: { send: 'GET :block/value' },
    file: 'js',
    line: 2,
    message: /null/,
  },
  display: {
    files: { yaml: value, html: page, js: 'export function on_display() {\n  throw new Error("first");\n}\n' },
    use: { send: 'GET :block', accept: html },
    file: 'js',
    line: 2,
    message: /first/,
  },
  action: {
    files: { yaml: action, html: '{go}', js: 'export function go() {\n  throw new Error("clicked");\n}\n' },
    use: { send: 'POST :block', form: { 'action.go': 'Go' }, accept: html },
    file: 'js',
    line: 2,
    message: /clicked/,
  },
  slow: {
    files: { yaml: value, js: 'export function value() {\n  for (;;);\n}\n' },
    use: { send: 'GET :block/value' },
    file: 'js',
    message: /2000|2 s|longer|time/i,
  },
};

const themes = useThemes(async (themes) => {
  await themes.write('main/apps/fails/settings.yaml', 'debug: false\n');
  for (const [id, { files }] of Object.entries(broken)) {
    for (const [end, text] of Object.entries(files)) await themes.write(`main/apps/fails/blocks/${id}.${end}`, text);
  }
  await themes.write('main/apps/fails/blocks/fine.yaml', value);
  await themes.write('main/apps/fails/blocks/fine.py', 'def value(context):\n    return context.app.get_record("x")\n');
});
const stage = useStage(() => ({ themesDirectory: themes.directory, env: { TEST_LOGIC_TIME: '2000' } }));

async function detail(app = 'fails'): Promise<AppDetail> {
  const { status, text, json } = await stage.send<AppDetail>({ as: 'root', send: `GET /apps/sites/site/apps/${app}` });
  expect(status, text).toBe(200);
  return json;
}
const blockOf = async (id: string) => (await detail()).blocks.find((block) => block.id === id);

async function site() {
  const { json } = await stage.send<Overview>({ as: 'root', send: 'GET /apps/overview' });
  return json.sites[0];
}

test.each(Object.entries(broken))('the panel says what is wrong: %s', async (id, { use, file, line, message }) => {
  if (use) {
    expect(await blockOf(id)).toMatchObject({ problem: null, failures: [] });
    const { send, ...rest } = use;
    const token = await stage.send({ send: 'GET fails' });
    const headers = { 'x-csrf-token': String(token.headers['x-csrf-token']) };
    await stage.send({ send: send.replace(':block', `fails/blocks/${id}`), headers, ...rest });
  }
  const block = await blockOf(id);
  expect(block?.problem?.file).toBe(`blocks/${id}.${file}`);
  if (line !== undefined) expect(block?.problem?.line).toBe(line);
  expect(block?.problem?.message).toMatch(message);
  const failure = { at: expect.any(String), times: 1, file: `blocks/${id}.${file}` };
  expect(block?.failures).toMatchObject(use ? [failure] : []);
});

test('the panel quotes the line', async () => {
  expect((await blockOf('definition'))?.problem).toMatchObject({ line: 2, column: 10 });
  expect((await blockOf('definition'))?.problem?.excerpt).toBe('2 |   value: BASIK\n             ^');
});

test('blocks without problems are fine, and the overview counts the others', async () => {
  await stage.send({ send: 'GET fails/blocks/fine/value' });
  await stage.send({ send: 'GET fails/blocks/fine/nothing' });
  expect(await blockOf('fine')).toMatchObject({ problem: null, failures: [] });
  const app = (await site())?.apps.find(({ id }) => id === 'fails');
  expect(app?.problems).toBe(Object.keys(broken).length);
});

describe('failures in use', () => {
  const write = (body: string) =>
    themes.write('main/apps/fails/blocks/loud.js', `export function value(context) {\n  ${body}\n}\n`);
  const use = (query: string) => stage.send({ send: `GET fails/blocks/loud/value?${query}` });

  test('failures in use are few, the latest first, and counted', async () => {
    await themes.write('main/apps/fails/blocks/loud.yaml', value);
    await write('throw new Error("x".repeat(5000) + context.request.get("n"));');
    await use('n=0');
    expect((await blockOf('loud'))?.failures[0]?.message.length).toBeLessThanOrEqual(1_000);
    await write('throw new Error(`no ${context.request.get("n")}`);');
    for (let n = 0; n < 15; n += 1) await use(`n=${n}`);
    await use('n=14');
    const failures = (await blockOf('loud'))?.failures ?? [];
    expect(failures).toHaveLength(10);
    expect(failures[0]).toMatchObject({ message: expect.stringMatching(/no 14/), times: 2, line: 2 });
    expect(failures[1]).toMatchObject({ message: expect.stringMatching(/no 13/), times: 1 });
  });

  test('are forgotten when the app’s files change, and shown only to those who manage apps', async () => {
    await write('return 1;');
    expect(await blockOf('loud')).toMatchObject({ problem: null, failures: [] });
    for (const as of ['anonymous', 'mona', 'olga']) {
      const { status, text } = await stage.send({ as, send: 'GET /apps/sites/site/apps/fails' });
      expect([401, 403]).toContain(status);
      expect(text).not.toContain('boom');
    }
  });
});

test('the theme’s own files are checked', async () => {
  expect((await site())?.problems).toEqual([]);
  const rules = [
    '- append: body',
    '  include: /@@apps/fails/blocks/fin',
    '- append: body',
    '  include: /@@apps/fail/blocks/fine',
    '- append: body',
    '  inklude: x',
  ];
  await themes.write('main/rules.yaml', rules.join('\n'));
  await themes.write('main/templates/article.html', 'x\n{% if %}\n');
  await themes.write('main/theme.yaml', 'title: Main\ncolour: red\n');
  const problems = (await site())?.problems ?? [];
  const found = Object.fromEntries(problems.map(({ file, line, message }) => [`${file}:${line}`, message]));
  expect(found).toEqual({
    'rules.yaml:1': expect.stringMatching(/no block "fin" in the app "fails", did you mean "fine"\?/),
    'rules.yaml:3': expect.stringMatching(/no app "fail" in this site, did you mean "fails"\?/),
    'rules.yaml:6': expect.stringMatching(/"inklude" is not known/),
    'templates/article.html:2': expect.any(String),
    'theme.yaml:2': expect.stringMatching(/colour/),
  });
});

test('without a sandbox, all logic has a problem', async () => {
  const env = configured({ apps: { sandbox: { command: ['/nowhere/at-all'] } } });
  const other = await openStage({ themesDirectory: themes.directory, env });
  try {
    const send = 'GET /apps/sites/site/apps/fails';
    const { json } = await other.send<AppDetail>({ as: 'root', send });
    expect(json.blocks.find(({ id }) => id === 'fine')?.problem?.message).toMatch(/not available|compil/i);
    await expect
      .poll(() => other.host.printed())
      .toContain('the sandbox is not available: spawn /nowhere/at-all ENOENT');
    const overview = await other.send<Overview>({ as: 'root', send: 'GET /apps/overview' });
    expect(overview.json.setup).toMatchObject([{ message: expect.stringMatching(/^Logic cannot run/) }]);
  } finally {
    await other.close();
  }
});
