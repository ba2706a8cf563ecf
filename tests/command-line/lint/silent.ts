import { block, type Mistake } from './mistake';

const open = { 'apps/a/settings.yaml': 'acl: { rights: { submitter: ["*"] } }' };

/** Mistakes that no page shows before a visitor meets them: in searches and members of logic, and in forms. */
export const silent: readonly Mistake[] = [
  {
    title: 'an index that there is not',
    files: {
      [`${block}.yaml`]: 'elements: { f: BASIC, state: { type: TEXT, index_type: field } }',
      [`${block}.ts`]:
        "import type { Context } from 'strapi-plugin-apps/context';\nexport function f({ app }: Context): number {\n  return app.count('stat == \"open\"');\n}",
    },
    finds: [
      'error apps/a/blocks/b.ts:3:20 This search fails: there is no index named "stat", did you mean "state"? There are: id, state',
    ],
    cure: /index_type/,
  },
  {
    title: 'a misspelt method of the app',
    files: {
      [`${block}.yaml`]: 'elements: { f: BASIC }',
      [`${block}.js`]: 'export function f(context) {\n  return context.app.serach("").length;\n}',
    },
    finds: ['error apps/a/blocks/b.js:2:22 There is no method "serach" of an app, did you mean "search"?'],
  },
  {
    title: 'a misspelt property of context in Python',
    files: {
      [`${block}.yaml`]: 'elements: { f: BASIC }',
      [`${block}.py`]: 'def f(context):\n    return context.contnet.title\n',
    },
    finds: ['error apps/a/blocks/b.py:2:20 There is no property "contnet" of `context`, did you mean "content"?'],
  },
  {
    title: 'a required field that the layout lacks',
    files: {
      ...open,
      [`${block}.yaml`]: 'elements:\n  name: TEXT\n  mail: { type: EMAIL, required: true }',
      [`${block}.html`]: '{name}{_save}',
    },
    finds: [
      'warning apps/a/blocks/b.yaml:3:9 The form does not show "mail", which is "required": it cannot be filled in',
    ],
    cure: /^Write `\{mail\}` in blocks\/b\.html/,
  },
  {
    title: 'a form without a button',
    files: { ...open, [`${block}.yaml`]: 'elements: { name: TEXT }', [`${block}.html`]: '<p>{name}</p>' },
    finds: ['warning apps/a/blocks/b.html:1:4 The form of the block "b" has no button: it cannot be sent'],
    cure: /\{_save\}/,
  },
  {
    title: 'a form of an app without acl',
    files: { [`${block}.yaml`]: 'elements: { name: TEXT }', [`${block}.html`]: '{name}{_save}' },
    finds: [
      'warning apps/a/blocks/b.html:1:7 Visitors cannot send the form of the block "b": the app has no "acl", so that only managers may save',
    ],
    cure: /submitter/,
  },
  {
    title: 'a schedule whose function there is not',
    files: {
      [`${block}.yaml`]: "schedules:\n  - { run: send, cron: '0 6 * * *' }",
      [`${block}.js`]: 'export function sned() {}',
    },
    finds: [
      'error apps/a/blocks/b.yaml:2:5 The schedule does nothing: blocks/b.js has no function "send", did you mean "sned"?',
    ],
    cure: /^Write `export function send\(context\) \{ … \}` in blocks\/b\.js\.$/,
  },
  {
    title: 'a schedule that never comes',
    files: {
      [`${block}.yaml`]: "schedules: [{ run: send, cron: '0 6 31 2 *' }]",
      [`${block}.js`]: 'export function send() {}',
    },
    finds: [/^error apps\/a\/blocks\/b.yaml:1:32 schedules.0.cron: .*: no day has such a date$/],
  },
  {
    title: 'a misspelt method in a scheduled function',
    files: {
      [`${block}.yaml`]: "schedules: [{ run: send, cron: '0 6 * * *' }]",
      [`${block}.js`]: 'export function send(context) {\n  context.app.serach("");\n}',
    },
    finds: ['error apps/a/blocks/b.js:2:15 There is no method "serach" of an app, did you mean "search"?'],
  },
];
