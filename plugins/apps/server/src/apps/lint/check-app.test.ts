import { describe, expect, test } from 'vitest';
import { createLayouts } from '../../layouts';
import { checkLogic } from '../../logic/check/task';
import { createOutbound } from '../../outbound';
import { loadApp } from '../definitions/app';
import { checkApp, type LintServices } from './check-app';
import type { Finding } from './problem';

const fetchConfig = {
  hosts: { a: ['hooks.example.org:443'] },
  private: [],
  timeout: 5_000,
  size: 1_000_000,
  secrets: { known: { value: 'whsec_YQ==', hosts: [] }, empty: { value: '', hosts: [] } },
};

const open = 'acl: { rights: { submitter: ["*"] } }';

/** The findings in an app of these files, as `<severity> <file>:<line>:<column> <message>`. */
async function found(files: Record<string, string>, settings: string | null = open): Promise<string[]> {
  const app = await loadApp({
    site: { id: 'site', title: 'Site', url: 'http://localhost/site', theme: 'basic', locale: null, timeZone: null },
    appId: 'a',
    themeId: 'basic',
    revision: '1',
    theme: null,
    themeFiles: new Map(),
    settings: settings === null ? null : { path: 'settings.yaml', text: settings },
    files: new Map(Object.entries(files).map(([path, text]) => [path, { path, text }])),
  });
  const services: LintServices = {
    layouts: createLayouts(),
    functionsOf: async () => null,
    async usesOf({ folder }, { logic }, functions) {
      const path = logic?.path ?? '';
      const text = folder.files.get(path)?.text ?? '';
      const language = path.endsWith('.py') ? 'python' : 'javascript';
      return checkLogic({ language, path, text, functions, assigned: [] });
    },
    warningsOf: () => [],
    imagePixels: 1_000_000,
    outbound: createOutbound(fetchConfig),
  };
  const findings: Finding[] = [];
  await checkApp(services, app, (finding) => void findings.push(finding));
  return findings.map(
    ({ severity, position: { file, line, column }, message }) =>
      `${severity} ${[file, line, column].filter((part) => part !== undefined).join(':')} ${message}`,
  );
}

const block = (html: string, yaml: string, more: Record<string, string> = {}) => ({
  'blocks/b.html': html,
  'blocks/b.yaml': yaml,
  ...more,
});

const name = 'elements:\n  name: { type: TEXT, required: true }\n';

describe('forms', () => {
  test.each<[title: string, files: Record<string, string>, finding: string, settings?: string | null]>([
    [
      'drafts without a button',
      block('{name}{_save}', `drafts: true\n${name}`),
      'warning blocks/b.html:1:7 The block keeps drafts, and its form has no button that saves one',
    ],
    [
      'a button for drafts that are not kept',
      block('{name}{_save}{_draft}', name),
      'error blocks/b.html:1:14 "_draft" is of drafts, which the block does not keep',
    ],
    [
      'a required field that the layout lacks',
      block('{other}{_save}', `${name}  other: TEXT`),
      'warning blocks/b.yaml:2:9 The form does not show "name", which is "required": it cannot be filled in',
    ],
    [
      'a required field on no page',
      block('{_pages}', `pages:\n  - { title: One, elements: [other] }\n${name}  other: TEXT`),
      'warning blocks/b.yaml:4:9 The form does not show "name", which is "required": it cannot be filled in',
    ],
    [
      'a state that no record can have',
      block('{_state}', 'states:\n  new: { to: [done] }\n  done: {}\n  lost: { to: [done] }\n'),
      'warning blocks/b.yaml:4:9 No record can become "lost": no way leads there from "new", the first state',
    ],
    [
      'the place of an own link without links',
      block('{link}', 'receipt: { to: m, block: b, confirm: true }\nelements: { m: EMAIL }'),
      'error blocks/b.html:1:1 There is no element "link"',
    ],
    [
      'the place of a state without states',
      block('{_state}', 'title: A\n'),
      'error blocks/b.html:1:1 There is no element "_state"',
    ],
    [
      'a message for a state that there is not',
      block('{_state}', 'states: { new: }\n', { 'locales/de.yaml': 'blocks: { b: { states: { old: Alt } } }\n' }),
      'warning locales/de.yaml:1:26 This message is never shown: there is no state "old"',
    ],
    [
      'a receipt that is not confirmed, where everyone may save',
      block('{m}{_save}', 'receipt: { to: m }\nelements: { m: EMAIL }'),
      'warning blocks/b.yaml:1:10 receipt: everyone may save, so that anyone can have what they enter sent to any address',
    ],
    [
      'the address of a receipt that the form does not show',
      block('{name}{_save}', 'receipt: { to: m, confirm: true }\nelements: { name: TEXT, m: EMAIL }'),
      'warning blocks/b.yaml:2:28 The form does not show "m", to which "receipt" sends a mail: it cannot be filled in',
    ],
    [
      'a form without a button',
      block('<p>\n  {name}</p>', name),
      'warning blocks/b.html:2:3 The form of the block "b" has no button: it cannot be sent',
    ],
    [
      'a form of an app without acl',
      block('{name}\n {_save}', name),
      'warning blocks/b.html:2:2 Visitors cannot send the form of the block "b": the app has no "acl", so that only managers may save',
      'debug: true',
    ],
    [
      'a form with pages of an app without acl',
      block('<p>{_pages}</p>', `pages:\n  - { title: One, elements: [name] }\n${name}`),
      'warning blocks/b.html:1:4 Visitors cannot send the form of the block "b": the app has no "acl", so that only managers may save',
      null,
    ],
    [
      'a form of an app without settings',
      block('{name}{_save}', name),
      'warning blocks/b.html:1:7 Visitors cannot send the form of the block "b": the app has no "acl", so that only managers may save',
      null,
    ],
  ])('%s is reported', async (_title, files, finding, settings = open) => {
    expect(await found(files, settings)).toEqual([finding]);
  });

  test.each<[title: string, files: Record<string, string>, settings?: string | null]>([
    ['a form that shows all', block('{name}{_save}', name)],
    ['a form with drafts', block('{name}{_draft_email}{_draft}{_save}', `drafts: true\n${name}`)],
    ['a receipt that is confirmed', block('{m}{_save}', 'receipt: { to: m, confirm: true }\nelements: { m: EMAIL }')],
    ...['notify: { to: a@example.org, subject: A, block: mail }', 'receipt: { to: m, block: mail, confirm: true }'].map(
      (mail): [string, Record<string, string>, string?] => [
        `an own link in the body of a mail: ${mail}`,
        block('{m}{_save}', `self_service: [view]\n${mail}\nelements: { m: EMAIL }`, {
          'blocks/mail.html': '<a href="{link}">Correct it</a>',
        }),
        `${open}\nmail: { to: [a@example.org] }`,
      ],
    ),
    [
      'a receipt of members',
      block('{m}{_save}', 'receipt: { to: m }\nelements: { m: EMAIL }'),
      'acl: { rights: { author: [staff] } }',
    ],
    ['a field by Liquid', block('{{ elements.name }}{_save}', name)],
    ['all fields by Liquid', block('{% for n in list %}{{ elements[n] }}{% endfor %}{_save}', name)],
    ['a control of the layout', block('<input name="name">{_save}', name)],
    ['a field in a group', block('{g}{_save}', `${name}  g: { type: GROUP, elements: [name] }`)],
    ['a field on a page', block('{_pages}', `pages:\n  - { title: One, elements: [name] }\n${name}`)],
    ['a required field of a block that does not save', block('{other}{act}', `${name}  other: TEXT\n  act: ACTION`)],
    [
      'a computed field',
      block('{_save}', 'elements: { n: { type: NUMBER, mode: COMPUTED_ON_SAVE } }', {
        'blocks/b.js': 'export function n() {}',
      }),
    ],
    ['a field that is not required', block('{name}{_save}', 'elements: { name: TEXT, other: TEXT }')],
    ['a form with an action', block('{name}{act}', `${name}  act: ACTION`)],
    ['a button of the layout', block('{name}<button name="action.act">Go</button>', `${name}  act: ACTION`)],
    ['a form of the layout', block('{name}<form action="/search"></form>', name)],
    [
      'a record that logic gives the block',
      block('{name}', 'elements: { name: TEXT }', { 'blocks/c.js': "export const f = (r) => r.save({ block: 'b' });" }),
    ],
    ['a layout that reads the record', block('{name} {{ context.record.id }}', 'elements: { name: TEXT }')],
    ['a record that may be edited', block('{name}{_edit}', name)],
    ['a block without a layout', { 'blocks/b.yaml': name }],
    ['an app without acl and without a form', block('<p></p>', ''), null],
    ['a form for managers of an app without acl', block('{name}{_save}', `view_permission: []\n${name}`), null],
  ])('%s is fine', async (_title, files, settings = open) => {
    expect(await found(files, settings)).toEqual([]);
  });
});

describe('logic', () => {
  const yaml =
    'elements:\n  stat: { type: TEXT, index_type: field }\n  words: { type: TEXT, index_type: keyword }\n  f: BASIC\n';
  const js = (body: string) => block('{f}', yaml, { 'blocks/b.js': `export function f({ app }) {\n  ${body}\n}` });

  test.each<[title: string, files: Record<string, string>, finding: string]>([
    [
      'an unknown index',
      js('app.search(\'status == "open"\');'),
      'error blocks/b.js:2:14 This search fails: there is no index named "status". There are: id, stat, words',
    ],
    [
      'one of a count',
      js("app.count('status == 1');"),
      'error blocks/b.js:2:13 This search fails: there is no index named "status"',
    ],
    [
      'one with names',
      js("app.count('status == x', { names: { x: 1 } });"),
      'error blocks/b.js:2:13 This search fails: there is no index named "status"',
    ],
    [
      'an unknown order',
      js("app.search('', { sort_index: 'stats' });"),
      'error blocks/b.js:2:14 This search fails: there is no index named "stats"',
    ],
    [
      'an order that there is not',
      js("app.search('', 'words');"),
      'error blocks/b.js:2:14 This search fails: words is a keyword index, which has no order',
    ],
    ['a query that is none', js("app.search('stat = 1');"), 'error blocks/b.js:2:14 This search fails:'],
    [
      'a text without quotes',
      js("app.search('stat == open');"),
      'error blocks/b.js:2:14 This search fails: no value is given for the name "open"',
    ],
    [
      'a wrong operator',
      js('app.search(\'"a" in stat\');'),
      'error blocks/b.js:2:14 This search fails: stat is a field index',
    ],
    [
      'a misspelt method',
      js("app.serach('x');"),
      'error blocks/b.js:2:7 There is no method "serach" of an app, did you mean "search"?',
    ],
    [
      'Python',
      block('{f}', yaml, { 'blocks/b.py': "def f(context):\n    return context.app.search('status == 1')\n" }),
      'error blocks/b.py:2:31 This search fails: there is no index named "status"',
    ],
  ])('%s is reported', async (_title, files, finding) => {
    expect(await found(files)).toEqual([expect.stringContaining(finding)]);
  });

  test.each<[title: string, files: Record<string, string>]>([
    ['a known index', js('app.search(\'stat == "open" and id > "a"\', { sort_index: \'stat\' });')],
    [
      'an index of another block',
      {
        ...js("app.search('total > 1');"),
        'blocks/c.yaml': 'elements: { total: { type: NUMBER, index_type: field } }',
      },
    ],
    ['a name with a value', js("app.search('stat == wanted', { names: { wanted } });")],
    ['a name with a value of a variable', js("app.search('stat == wanted', options);")],
    ['an empty query', js("app.search(''); app.count(); app.search({ limit: 1 });")],
    [
      'a query that is put together',
      js("app.search('status == ' + x); app.search(`status == ${x}`); app.search(query);"),
    ],
    ['a text with a method search', js("return 'x'.search('status == 1') + [].search('a = b');")],
    [
      'another app',
      block('{f}', yaml, {
        'blocks/b.js': "export function f(context) { return context.get_app('x').search('status == 1'); }",
      }),
    ],
  ])('%s is fine', async (_title, files) => {
    expect(await found(files)).toEqual([]);
  });

  test('no index is unknown while a definition is broken, which may declare it', async () => {
    const files = { ...js("app.search('status == 1');"), 'blocks/c.yaml': 'elements: {' };
    expect(await found(files)).toEqual([expect.stringContaining('error blocks/c.yaml')]);
  });
});

describe('webhooks', () => {
  const hook = (keys: string) => block('', `elements:\n  hook: { type: ACTION, verify: { ${keys} } }`);
  const js = { 'blocks/b.js': 'export const hook = () => null;' };

  test.each<[title: string, files: Record<string, string>, settings: string, findings: string[]]>([
    ['one that is complete', { ...hook('secret: known'), ...js }, open, []],
    [
      'an element without its secret',
      { ...hook('secret: nothing'), ...js },
      open,
      [
        'warning blocks/b.yaml:2:9 Webhooks for the element "hook" are refused: this host has no "fetch.secrets.nothing.value"',
      ],
    ],
    [
      'an element whose secret is empty',
      { ...hook('secret: empty, header: x-signature'), ...js },
      open,
      [
        'warning blocks/b.yaml:2:9 Webhooks for the element "hook" are refused: this host has no "fetch.secrets.empty.value"',
      ],
    ],
    [
      'an element that the layout shows',
      { ...hook('secret: known'), ...js, 'blocks/b.html': '<p>{hook}</p>' },
      open,
      ['error blocks/b.yaml:2:9 The layout shows "hook", which webhooks call: a page shows nothing of it'],
    ],
    [
      'one that goes out',
      block('', 'title: x'),
      `${open}\nwebhooks: { chat: { url: "https://hooks.example.org/x", block: b, secret: known } }`,
      [],
    ],
    [
      'one to a host that is not named, without a secret',
      block('', 'title: x'),
      `${open}\nwebhooks: { chat: { url: "https://example.com/x", secret: nothing } }`,
      [
        'warning settings.yaml:2:19 The webhook "chat" is not sent: The configuration "fetch.hosts.a" does not name "example.com:443"',
        'warning settings.yaml:2:19 The webhook "chat" is not sent: this host has no "fetch.secrets.nothing.value"',
      ],
    ],
  ])('%s', async (_, files, settings, findings) => {
    expect(await found(files, settings)).toEqual(findings);
  });
});
