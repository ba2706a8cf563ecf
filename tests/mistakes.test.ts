import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleIn } from './support/console';
import { openStage, type Row, type Stage } from './support/stage';
import { copyThemes, type ThemeCopy } from './support/theme';

/** What a theme author's mistake shows, and where: docs/mistakes.md. */
interface Mistake {
  /** The files of the block `m`, by their endings. */
  files: Record<string, string>;
  /** Where it shows; default: the block's page. */
  send?: string;
  form?: Record<string, string>;
  accept?: string;
  status?: number;
  /** In the page or answer, in debug mode. */
  shows?: string | RegExp;
  /** In the visitor's console, in debug mode. */
  console?: RegExp;
  /** In the server's log, always. */
  log: RegExp;
}

const basic = 'elements: { found: BASIC }\n';
const python = (...lines: string[]): Mistake['files'] => ({
  html: '<p>{found}</p>',
  yaml: basic,
  py: lines.join('\n'),
});
const javascript = (js: string, html = '<p>{found}</p>'): Mistake['files'] => ({ html, yaml: basic, js });

const mistakes: Record<string, Mistake> = {
  'an element without its function': {
    files: { html: '<p>{found}</p>', yaml: basic, js: 'export function fuond() { return 1; }' },
    shows: /The BASIC|the BASIC &quot;found&quot; does nothing.*did you mean &quot;fuond&quot;/,
    console: /"found" does nothing, for blocks\/m.js has no function "found".*\(apps\/slips\/blocks\/m.yaml:1\)/,
    log: /\/m: the BASIC "found" does nothing/,
  },
  'an action without its function': {
    files: { html: '{like}', yaml: 'elements: { like: ACTION }\n', js: 'export function found() {}' },
    shows: 'the ACTION &quot;like&quot; does nothing',
    console: /"like" does nothing/,
    log: /"like" does nothing/,
  },
  'an element that is not declared': {
    files: { html: '<p>{fuond}</p>', yaml: basic, js: 'export function found() {}' },
    shows: 'UNDEFINED ELEMENT',
    console: /undeclared element "fuond" in blocks\/m.html/,
    log: /undeclared element "fuond" in blocks\/m.html/,
  },
  'an unknown variable in Liquid': {
    files: javascript('export function found() {}', '<p>\n{{ contxt.record.title }}{{ found }}</p>'),
    shows: 'apps/slips/blocks/m.html:2: the layout has no variable &quot;contxt&quot;',
    console: /has no variable "contxt".*m.html:2/,
    log: /has no variable "contxt".*\/blocks\/m.html:2\)/,
  },
  'a failed BASIC by its key': {
    files: javascript('export function found() {\n  null.x;\n}', '<p>{found.total}</p>'),
    shows: /<p><span class="apps-error" role="alert">This part could not be shown: .*apps\/slips\/blocks\/m.js:2/,
    console: /TypeError.*apps\/slips\/blocks\/m.js:2/,
    log: /TypeError.*\/blocks\/m.js:2/,
  },
  'a failed BASIC by elements': {
    files: javascript('export function found() {\n  null.x;\n}', '<p>{{ elements.found.total }}</p>'),
    shows: /<p><span class="apps-error"/,
    console: /TypeError/,
    log: /TypeError.*\/blocks\/m.js:2/,
  },
  'a loop without an end': {
    files: javascript('export function found() {\n  for (;;);\n}'),
    status: 504,
    shows: 'the function &quot;found&quot;, apps/slips/blocks/m.js:2',
    log: /LogicTimeoutError .* It stood in the block "m", the function "found", apps\/.*\/blocks\/m.js:2/,
  },
  'a loop without an end, as JSON': {
    files: python('def found(context):', '    n = 0', '    while True:', '        n += 1'),
    send: 'GET slips/blocks/m/found',
    accept: 'application/json',
    status: 504,
    shows: /It stood in the block \\"m\\", the function \\"found\\", apps\/slips\/blocks\/m.py:[34]/,
    log: /It stood in the block "m", the function "found"/,
  },
  'a rejected promise that nothing awaits': {
    files: javascript('export function found() {\n  Promise.reject(new Error("lost"));\n}'),
    status: 500,
    shows: 'A promise that nothing awaits was rejected: Error: lost (apps/slips/blocks/m.js:2)',
    log: /rejected: Error: lost \(apps\/.*\/blocks\/m.js:2\)/,
  },
  'a Python file that is none': {
    files: python('def found(context)', '    return 1'),
    status: 500,
    shows:
      /SyntaxError: invalid syntax: &quot;:&quot; is missing at the end of &quot;def&quot; \(apps\/slips\/blocks\/m.py:1:19\)/,
    log: /invalid syntax: ":" is missing at the end of "def" \(apps\/.*\/blocks\/m.py:1:19\)/,
  },
  'a misspelt method of the context': {
    files: javascript('export function found(context) {\n  return context.app.get_recrod("x");\n}'),
    shows: 'did you mean &quot;app.get_record&quot;?',
    console: /is not a function, did you mean "app.get_record"\?/,
    log: /did you mean "app.get_record"/,
  },
  'a misspelt property of the context, in Python': {
    files: python('def found(context):', '    return context.contnet.title'),
    shows: 'did you mean &quot;context.content&quot;?',
    console: /context has no 'contnet'.* did you mean "context.content"\?.*m.py:2/,
    log: /did you mean "context.content"/,
  },
  'an index that does not exist': {
    files: {
      html: '<p>{found}</p>',
      yaml: 'elements: { found: BASIC, total: { type: NUMBER, index_type: field } }\n',
      js: 'export function found(context) {\n  return context.app.search("totl == 1").length;\n}',
    },
    shows: 'there is no index named &quot;totl&quot;, did you mean &quot;total&quot;? There are: id, total',
    console: /did you mean "total"\? There are: id, total.*m.js:2/,
    log: /There are: id, total/,
  },
  'no id at all': {
    files: javascript('export function found(context) {\n  return context.app.get_record("").title;\n}'),
    shows: /null.*m.js:2/,
    log: /of null/,
  },
  'an action that fails after it has logged': {
    files: {
      html: '{like}',
      yaml: 'elements: { like: ACTION }\n',
      js: 'export function like(context) {\n  context.app.log("begun");\n  null.x;\n}',
    },
    send: 'POST slips/blocks/m',
    form: { 'action.like': '1' },
    status: 500,
    shows: 'apps/slips/blocks/m.js:3',
    console: /^slips\/m:2 begun$/,
    log: /apps\/slips\/blocks\/m.js:3/,
  },
};

let themes: ThemeCopy;
let stage: Stage;
const ids = new Map(Object.keys(mistakes).map((name, index) => [name, `m${index}`]));

beforeAll(async () => {
  themes = await copyThemes();
  for (const [name, { files }] of Object.entries(mistakes)) {
    for (const app of ['slips', 'quiet'])
      for (const [end, text] of Object.entries(files))
        await themes.write(`main/apps/${app}/blocks/${ids.get(name)}.${end}`, text);
  }
  await themes.write('main/apps/slips/settings.yaml', 'debug: true\n');
  stage = await openStage({ themesDirectory: themes.directory });
});
afterAll(async () => {
  await stage?.close();
  await themes?.dispose();
});

/** The request of a mistake, at its block of an app. */
function requestOf(name: string, app: string): Omit<Row, 'it' | 'status'> {
  const { send = 'GET slips/blocks/m', form, accept = 'text/html' } = mistakes[name] as Mistake;
  const line = send.replace('slips', app).replace(/blocks\/m\b/, `blocks/${ids.get(name)}`);
  return { send: line, accept, ...(form ? { form } : {}) };
}

/** Texts about a block as if it was called `m`. */
const named = (name: string, text: string) =>
  text.replaceAll(new RegExp(`\\b${ids.get(name)}(?=[./:"\\\\&]|$)`, 'gm'), 'm').replaceAll('quiet', 'slips');

describe.each(Object.entries(mistakes))('%s', (name, { status = 200, shows, console, log }) => {
  // On a busy machine the sandbox may get no processor time to send its stack.
  const options = { retry: status === 504 ? 2 : 0 };

  test('is explained in debug mode', options, async () => {
    const answer = await stage.send(requestOf(name, 'slips'));
    expect(answer.status, answer.text).toBe(status);
    if (shows instanceof RegExp) expect(named(name, answer.text)).toMatch(shows);
    else if (shows) expect(named(name, answer.text)).toContain(shows);
    const lines = consoleIn(answer.text).map((line) => named(name, line));
    if (console)
      expect(
        lines.some((line) => console.test(line)),
        lines.join('\n'),
      ).toBe(true);
  });

  test('is not shown to visitors, and is logged', options, async () => {
    const before = stage.host.output().length;
    const answer = await stage.send(requestOf(name, 'quiet'));
    expect(answer.status, answer.text).toBe(status);
    for (const hidden of ['blocks/m', 'does nothing', 'UNDEFINED', 'no variable', 'TypeError'])
      expect(named(name, answer.text.replace(/action="[^"]*"/g, ''))).not.toContain(hidden);
    expect(consoleIn(answer.text)).toEqual([]);
    expect(named(name, stage.host.output().slice(before))).toMatch(log);
  });
});

test('what is wrong without failing is in the log once', async () => {
  const request = requestOf('an unknown variable in Liquid', 'quiet');
  const before = stage.host.output().length;
  for (let round = 0; round < 3; round += 1) await stage.send(request);
  expect(stage.host.output().slice(before)).not.toContain('has no variable');
});
