import { block, type Mistake } from './mistake';

const layout = '<!doctype html><title>x</title><main class="page">{{ main }}</main>';

/** Mistakes in settings, in the files of a theme, and in messages. */
export const themes: readonly Mistake[] = [
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
      'apps/a/settings.yaml': 'acl: { rights: { submitter: ["*"] } }',
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
      'apps/a/settings.yaml': 'acl: { rights: { submitter: ["*"] } }',
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
      'apps/a/settings.yaml': 'acl: { rights: { submitter: ["*"] } }',
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
