import { broken, type Case } from './case';

const refused = (name: string, definition: string): Case => ({
  name: `definition-${name}`,
  definition,
  js: 'export const f = () => 1;',
  ...broken,
  message: new RegExp(`^apps/[\\w-]+/blocks/definition-${name}\\.yaml:`),
});
const element = 'elements:\n  f: BASIC\n';

/** Definitions that are no definitions, or would grow. */
export const definitions: readonly Case[] = [
  refused(
    'alias',
    'x: &a [1,2,3,4,5,6,7,8,9]\ny: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nz: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nelements:\n  f: BASIC\n  o: {type: SELECT, options: [*c,*c,*c,*c]}\n',
  ),
  refused('alias-of-itself', `${element}  o: {type: SELECT, options: &b [1, *b]}\n`),
  refused('depth', `elements: ${'['.repeat(5000)}${']'.repeat(5000)}\n`),
  refused('depth-of-maps', `elements: ${'{f: '.repeat(60)}1${'}'.repeat(60)}\n`),
  refused('many', `elements:\n  f: BASIC\n${Array.from({ length: 20000 }, (_, i) => `  a${i}: BASIC\n`).join('')}`),
  refused('binary', 'elements:\n  f: !!binary aGVsbG8=\n'),
  refused('merge', `${element}  a: &b {type: TEXT}\n  x: {<<: *b}\n`),
  refused('nul', `${element}  "\\0": BASIC\n`),
  refused('pattern', `${element}  p: { type: TEXT, pattern: "${'(a|a)*'.repeat(170)}" }\n`),
  refused('tag', 'elements: !!python/object/apply:os.system ["id"]\n'),
  refused('number', 'elements: 5\n'),
  refused('element-number', 'elements:\n  f: 5\n'),
  refused('element-list', 'elements:\n  f: { type: BASIC, mode: [x] }\n'),
  refused('permission', `view_permission: {a: 1}\n${element}`),
  refused('permission-list', `view_permission: ["*", 5, null]\n${element}`),
  refused('cache', `cache: -1\n${element}`),
  refused('refresh', `refresh: 0.0001\n${element}`),
  refused('refresh-late', `refresh: 1e99\n${element}`),
  refused('view-apps', `view: apps\n${element}`),
  refused('view-login', `view: { id: login }\n${element}`),
  {
    name: 'definition-label',
    definition: `${element}  act: { type: ACTION, label: "<script>alert(1)</script>\\" onmouseover=alert(1) x=\\"" }\n  t: { type: TEXT, label: "<b>", help: "<u>", placeholder: "\\"><script>", default: "</textarea><script>"}\n`,
    js: 'export const f = () => 1;\nexport const act = () => 1;',
    layout: '{act}{t}',
    path: '',
    status: 200,
    has: /&lt;script&gt;/,
    lacks: /<script>alert|"><script>|<u>|" onmouseover/,
  },
];
