import { describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import type { RowRequest } from '../support/stage';
import { consoleIn } from './console';
import { brokenFiles, type Mistake } from './mistakes/broken-files';

/** How mistakes of theme authors are shown, and where: docs/mistakes.md. */
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
    console:
      /apps\/slips\/blocks\/m.yaml:1:\d+: the BASIC "found" does nothing, for blocks\/m.js has no function "found"/,
    log: /\/m: apps\/slips\/blocks\/m.yaml:1:\d+: the BASIC "found" does nothing/,
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
    console: /m.html:2: .*has no variable "contxt"/,
    log: /\/blocks\/m.html:2: .*has no variable "contxt"/,
  },
  'a failed BASIC by its key': {
    files: javascript('export function found() {\n  null.x;\n}', '<p>{found.total}</p>'),
    shows: /<p><span class="apps-error" role="alert">This part could not be shown: .*apps\/slips\/blocks\/m.js:2/,
    console: /apps\/slips\/blocks\/m.js:2: TypeError/,
    log: /\/blocks\/m.js:2: TypeError/,
  },
  'a failed BASIC by elements': {
    files: javascript('export function found() {\n  null.x;\n}', '<p>{{ elements.found.total }}</p>'),
    shows: /<p><span class="apps-error"/,
    console: /TypeError/,
    log: /\/blocks\/m.js:2: TypeError/,
  },
  'a loop without an end': {
    files: javascript('export function found() {\n  for (;;);\n}'),
    status: 504,
    shows: /apps\/slips\/blocks\/m.js:2: The logic .* the function &quot;found&quot;/,
    log: /LogicTimeoutError apps\/.*\/blocks\/m.js:2: .* It stood in the block "m", the function "found"/,
  },
  'a loop without an end, as JSON': {
    files: python('def found(context):', '    n = 0', '    while True:', '        n += 1'),
    send: 'GET slips/blocks/m/found',
    accept: 'application/json',
    status: 504,
    shows: /apps\/slips\/blocks\/m.py:[34]: .* It stood in the block \\"m\\", the function \\"found\\"/,
    log: /It stood in the block "m", the function "found"/,
  },
  'a rejected promise that nothing awaits': {
    files: javascript('export function found() {\n  Promise.reject(new Error("lost"));\n}'),
    status: 500,
    shows: 'apps/slips/blocks/m.js:2: A promise that nothing awaits was rejected: Error: lost',
    log: /apps\/.*\/blocks\/m.js:2: A promise that nothing awaits was rejected: Error: lost/,
  },
  'a Python file that is none': {
    files: python('def found(context)', '    return 1'),
    status: 500,
    shows:
      /apps\/slips\/blocks\/m.py:1:19: SyntaxError: invalid syntax: &quot;:&quot; is missing at the end of &quot;def&quot;/,
    log: /apps\/.*\/blocks\/m.py:1:19: SyntaxError: invalid syntax: ":" is missing at the end of "def"/,
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
    console: /m.py:2: .*context has no 'contnet'.* did you mean "context.content"\?/,
    log: /did you mean "context.content"/,
  },
  'an index that does not exist': {
    files: {
      html: '<p>{found}</p>',
      yaml: 'elements: { found: BASIC, total: { type: NUMBER, index_type: field } }\n',
      js: 'export function found(context) {\n  return context.app.search("totl == 1").length;\n}',
    },
    shows: 'there is no index named &quot;totl&quot;, did you mean &quot;total&quot;? There are: id, total',
    console: /m.js:2: .*did you mean "total"\? There are: id, total/,
    log: /There are: id, total/,
  },
  'no id at all': {
    files: javascript('export function found(context) {\n  return context.app.get_record("").title;\n}'),
    shows: /m.js:2: .*null/,
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
  'logic without any function': {
    files: javascript('const count = 1;'),
    shows: 'has no function &quot;found&quot;, nor another one: write export function found(context) {}',
    console: /nor another one: write export function found/,
    log: /nor another one: write export function found/,
  },
  ...brokenFiles,
};

const ids = new Map(Object.keys(mistakes).map((name, index) => [name, `m${index}`]));

const themes = useThemes(async (themes) => {
  for (const [name, { files }] of Object.entries(mistakes)) {
    for (const app of ['slips', 'quiet'])
      for (const [end, text] of Object.entries(files))
        await themes.write(`main/apps/${app}/blocks/${ids.get(name)}.${end}`, text);
  }
  await themes.write('main/apps/slips/settings.yaml', 'debug: true\n');
});
const stage = useStage(() => ({ themesDirectory: themes.directory, env: { TEST_LOGIC_TIME: '2000' } }));

/** The request of a mistake, at its block of an app. */
function requestOf(name: string, app: string): RowRequest {
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
    const before = (await stage.host.printed()).length;
    const answer = await stage.send(requestOf(name, 'quiet'));
    expect(answer.status, answer.text).toBe(status);
    for (const hidden of ['blocks/m', 'does nothing', 'UNDEFINED', 'no variable', 'TypeError'])
      expect(named(name, answer.text.replace(/(?:action|canonical" href)="[^"]*"/g, ''))).not.toContain(hidden);
    expect(consoleIn(answer.text)).toEqual([]);
    expect(named(name, (await stage.host.printed()).slice(before))).toMatch(log);
  });
});

test('a mistake without a failure is in the log once', async () => {
  const request = requestOf('an unknown variable in Liquid', 'quiet');
  const before = (await stage.host.printed()).length;
  for (let round = 0; round < 3; round += 1) await stage.send(request);
  expect((await stage.host.printed()).slice(before)).not.toContain('has no variable');
});
