import { block, type Mistake } from './mistake';

/** Mistakes in the definitions, layouts and logic of blocks. */
export const blocks: readonly Mistake[] = [
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
    files: {
      [`${block}.yaml`]:
        'elements:\n  at: { type: BASIC, mode: COMPUTED_ON_SAVE }\n  sum: { type: NUMBER, mode: COMPUTED_ON_SAVE }',
    },
    finds: [
      'error apps/a/blocks/b.yaml:2:7 The BASIC "at" is never computed: the block has no logic file',
      'error apps/a/blocks/b.yaml:3:8 The NUMBER "sum" is never computed: the block has no logic file',
    ],
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
      'apps/a/settings.yaml': 'acl: { rights: { submitter: ["*"] } }',
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
    finds: [/^error apps\/a\/blocks\/b(\.js(:1)?)?(:\d+)? .*2000 ms/],
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
    title: 'an index with two types, and one that no query can name',
    files: {
      [`${block}.yaml`]:
        'elements:\n  n: { type: TEXT, index_type: field }\n  in: { type: TIME, index_type: field }\n  or: TEXT',
      'apps/a/blocks/c.yaml': 'elements: { n: { type: TEXT, index_type: text } }',
    },
    finds: [
      'warning apps/a/blocks/b.yaml:3:7 No query can name the index "in", which is a word or a value of the query language',
      /^error apps\/a\/blocks\/c.yaml:1:16 .*"n" is field in blocks\/b.yaml and cannot be text/,
    ],
  },
  {
    title: 'a file that is not UTF-8',
    files: { [`${block}.html`]: Buffer.from([0x3c, 0xff, 0x3e]) },
    finds: ['error apps/a/blocks/b.html The file is not UTF-8 text'],
  },
];
