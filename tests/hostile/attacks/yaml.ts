import type { Attack } from './attack';

/** Characters of a YAML file, at most. */
const MAX_SIZE = 128 * 1024;

const many = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, n) => part(n)).join('');

/** A text repeated up to the largest file. */
const fill = (part: string, size = MAX_SIZE - 200): string => part.repeat(Math.floor(size / part.length));

/** A numbered text, likewise. */
const numbered = (part: (index: number) => string, size = MAX_SIZE - 200): string => {
  let text = '';
  for (let index = 0; text.length < size; index += 1) text += part(index);
  return text;
};

const key = 'k'.repeat(100_000);
const nested = (depth: number, at: (level: number) => string, core: string): string =>
  many(depth, (level) => `${'  '.repeat(level)}${at(level)}\n`) + '  '.repeat(depth) + core;

/** The block's definition, and the pattern of the answer. */
const refused: [name: string, definition: string, has: RegExp][] = [
  ['long-key', `${key}:\n${numbered((n) => `  c${n}: 1\n`, 25_000)}`, /A key has at most 1000 characters/],
  ['long-keys-nested', nested(10, (n) => `${'k'.repeat(10_000)}${n}:`, 'a: 1'), /A key has at most 1000 characters/],
  [
    'keys-of-1000',
    nested(
      40,
      (n) => `${'k'.repeat(995)}${n}:`,
      numbered((n) => `${n}: x, `, 0),
    ),
    /is not known/,
  ],
  [
    'wide-below-long-path',
    nested(30, (n) => `${'k'.repeat(990)}${n}:`, `[${fill('a,', 60_000)}]`),
    /is not known|values and keys/,
  ],
  ['quoted-key', `"${'\\n'.repeat(60_000)}": 1`, /A key has at most 1000 characters/],
  ['folded-key', `"${fill('a\n ')}": 1`, /YAML|characters/],
  ['explicit-key', `? ${key}\n: 1`, /A key has at most 1000 characters/],
  ['explicit-keys', numbered((n) => `? k${n}\n: v\n`), /values and keys|is not known/],
  ['block-key', `? |\n${fill('  a\n')}\n: 1`, /A key has at most 1000 characters/],
  ['complex-keys', `? {${fill('a: b, ')}}\n: 1`, /not valid YAML|values and keys/],
  ['complex-keys-nested', `${'? '.repeat(45)}a`, /not valid YAML/],
  ['duplicate-keys', fill('a: 1\n'), /not valid YAML: duplicated|values and keys/],
  ['many-keys', numbered((n) => `k${n}: 1\n`), /is not known|values and keys/],
  ['index-keys', numbered((n) => `${4_294_967_294 - n}: 1\n`), /is not known/],
  ['flow-list', `elements: [${fill('a,')}]`, /values and keys/],
  ['flow-of-nothing', `elements: [${fill('{},')}]`, /values and keys/],
  ['flow-pairs', `elements: [${fill('a: b,')}]`, /values and keys/],
  ['flow-pair-keys', `elements: [${fill('[a,a]: b,')}]`, /not valid YAML|values and keys/],
  [
    'flow-pairs-nested',
    `${'['.repeat(45)}a${fill(',b', 90_000)}${']: c'.repeat(44)}]`,
    /not valid YAML|values and keys/,
  ],
  ['flow-open', fill('[a, '), /nesting exceeded|not valid YAML/],
  ['flow-map-open', fill('{a: '), /nesting exceeded|not valid YAML/],
  ['flow-unclosed', `[${fill('a,')}`, /not valid YAML/],
  ['block-list', fill('-\n'), /values and keys/],
  ['block-lists-deep', fill('- '), /nesting exceeded/],
  ['block-maps-deep', nested(60, () => 'a:', 'b'), /nesting exceeded/],
  ['documents', fill('---\n'), /values and keys|one YAML document/],
  ['document-ends', fill('a\n...\n'), /values and keys|one YAML document/],
  ['marks', fill('\uFEFF#\n'), /mapping|YAML/],
  ['anchors', `[${numbered((n) => `&a${n} x,`)}]`, /values and keys|must be a mapping/],
  ['anchors-on-lists', fill('- &a [1,1]\n'), /values and keys|must be a mapping/],
  [
    'anchors-before-flow',
    `${many(45, (n) => `${' '.repeat(n)}- &a\n`)}${' '.repeat(46)}[${fill('a,', 100_000)}]`,
    /values and keys/,
  ],
  ['aliases', `[&a x,${fill('*a,')}]`, /more than 100 copies|values and keys/],
  ['aliases-of-lists', `a: &a [${fill('x,', 40_000)}]\nb: [${'*a,'.repeat(99)}]`, /is not known/],
  [
    'aliases-nested',
    many(12, (n) => `a${n}: &a${n} [${n === 0 ? 'x' : `*a${n - 1},*a${n - 1}`}]\n`),
    /more than 100 copies/,
  ],
  ['aliases-long-names', `a: &${'a'.repeat(60_000)} x\nb: *${'a'.repeat(60_000)}\n`, /is not known/],
  [
    'merge-keys',
    `a: &a {${numbered((n) => `k${n}: 1, `, 60_000)}}\n${many(90, (n) => `b${n}: {<<: *a}\n`)}`,
    /is not known/,
  ],
  ['tags', `[${fill('!!str a,')}]`, /must be a mapping|values and keys/],
  ['long-tag', `!${fill('a')} x`, /not valid YAML/],
  ['tag-handles', `${numbered((n) => `%TAG !a${n}! x\n`)}---\na`, /mapping|YAML/],
  ['verbatim-tag', `!<${fill('%41')}> x`, /not valid YAML/],
  ['directives', `${fill('%A b\n')}---\na`, /must be a mapping/],
  ['large-number', `elements: ${'9'.repeat(100_000)}`, /must be a mapping/],
  ['large-exponent', `elements: 1e${'9'.repeat(100_000)}`, /must be a mapping/],
  ['large-fraction', `elements: 0.${'1'.repeat(100_000)}`, /must be a mapping/],
  ['infinite', 'elements: {a: {type: NUMBER, min: .inf}}', /Infinite and undefined numbers/],
  ['blank-lines', `a: |\n${fill('\n')}`, /is not known/],
  ['blanks', `a: >\n${fill(' ')}\n b`, /is not known|YAML/],
  ['stairs', `a: |\n${many(450, (n) => `${' '.repeat(n)}\n`)}`, /is not known|YAML/],
  ['folded-lines', `a: "${fill('b\n ')}"`, /is not known/],
  ['plain-lines', `a: b\n${fill('  c\n\n')}`, /is not known/],
  ['quotes', `a: '${fill("''")}'`, /is not known/],
  ['escapes', `a: "${fill('\\x41')}"`, /is not known/],
  ['comments', `a:\n${fill(' #x\n')} b: 1`, /is not known/],
  ['tabs', `a:${fill('\t')}b`, /is not known|YAML/],
  ['returns', `a: b\n${fill('\r')}`, /is not known/],
  ['long-type', `elements: {a: ${'x'.repeat(100_000)}}`, /The element type ..x+….. is not known/],
  [
    'long-label',
    `elements: {a: {type: TEXT, label: &l ${'x'.repeat(100_000)}}, ${many(90, (n) => `e${n}: {type: TEXT, label: *l},`)}}`,
    /more than 10000 characters/,
  ],
  ['elements', `elements:\n${numbered((n) => `  e${n}: TEXT\n`)}`, /at most 500 elements|values and keys/],
  ['options', `elements: {a: {type: SELECT, options: [${many(20_000, (n) => `${n},`)}]}}`, /at most 1000 options/],
  [
    'options-by-alias',
    `elements:\n  a: {type: SELECT, options: &o [${many(1_000, (n) => `v${n},`)}]}\n${many(99, (n) => `  e${n}: {type: SELECT, options: *o}\n`)}`,
    /at most 20000 options/,
  ],
  [
    'defaults',
    `elements: {a: {type: CHECKBOXES, options: [x], default: [${fill('x,', 50_000)}]}}`,
    /at most 1000 values/,
  ],
  [
    'patterns',
    `elements:\n${many(120, (n) => `  e${n}: {type: TEXT, pattern: '${'(a|b)?'.repeat(160)}${n}'}\n`)}`,
    /too large together/,
  ],
  ['pattern-properties', `elements: {a: {type: TEXT, pattern: '[${'\\p{L}'.repeat(190)}]'}}`, /more than 20 times/],
  [
    'patterns-of-properties',
    `elements:\n${many(400, (n) => `  e${n}: {type: TEXT, pattern: '[${'\\p{L}'.repeat(20)}]${n}'}\n`)}`,
    /too large together/,
  ],
  [
    'pattern-repetitions',
    `elements: {a: {type: TEXT, pattern: '((a{99}){99}){99}'}}`,
    /too large when its repetitions/,
  ],
  ['permissions', `view_permission: [${fill('a,', 50_000)}]`, /at most 1000 names/],
  ['permission-text', `view_permission: ${fill('a ')}`, /more than 10000 characters/],
  ['view', `view: ${'v'.repeat(100_000)}`, /must be the id of a view/],
  ['large-file', `# ${'x'.repeat(200_000)}`, /longer than 128 kB/],
];

const definitions: Attack[] = refused.map(([name, yaml, has], index) => ({
  name: `yaml-${name}`,
  block: { yaml, js: 'export const f = () => 1' },
  status: 500,
  has,
  short: index === 0,
}));

/** Files of an app of its own: their errors are shown only to its managers. */
const app = (name: string, files: Record<string, string>, status: number, path = 'blocks/a/f'): Attack => ({
  name: `yaml-${name}`,
  files: {
    [`apps/${name}/blocks/a.js`]: 'export const f = () => 1',
    [`apps/${name}/blocks/a.yaml`]: 'elements: {f: BASIC}',
    ...Object.fromEntries(Object.entries(files).map(([file, text]) => [`apps/${name}/${file}`, text])),
  },
  requests: [{ path: `/site/@@apps/${name}/${path}` }],
  status,
});

const names = (count: number) => `[${many(count, (n) => `u${n},`)}]`;

const apps: Attack[] = [
  app('settings-key', { 'settings.yaml': `acl: {roles: {${key}: {a: [b]}}}` }, 500),
  app('settings-names', { 'settings.yaml': `acl: {rights: {editor: ${names(20_000)}}}` }, 500),
  app(
    'settings-aliases',
    { 'settings.yaml': `acl: {roles: {a: &n ${names(900)}, ${many(99, (n) => `r${n}: *n,`)}}}` },
    500,
  ),
  app('settings-roles', { 'settings.yaml': `acl: {roles: {${many(9_000, (n) => `r${n}: [u],`)}}}` }, 200),
  app(
    'many-definitions',
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`blocks/b${n}.yaml`, `elements: [${fill('a,')}]`])),
    200,
  ),
];

/** A page of the site, with the theme's rules. */
const rules: Attack[] = (
  [
    ['slashes', `- {append: main, include: /@@apps/healthy/blocks/block, if_path: '${'/'.repeat(100_000)}x'}`],
    ['wildcards', `- {append: main, include: /@@apps/healthy/blocks/block, if_path: '${'*'.repeat(100_000)}x'}`],
    ['references', `- {append: main, include: '/@@apps/${'a/blocks/'.repeat(10_000)}'}`],
    ['selectors', fill(`- {append: '${':is(a,'.repeat(140)}b${')'.repeat(140)}', include: /@@apps/a/blocks/b}\n`)],
    ['number', fill('- {append: main, include: /@@apps/a/blocks/b}\n')],
    ['lists', `[${fill('[],')}]`],
  ] as const
).map(([name, text]) => ({
  name: `yaml-rules-${name}`,
  files: { 'rules.yaml': text },
  requests: [{ method: 'GET', path: '/site/', headers: { accept: 'text/html' } }],
  status: 200,
}));

/** Requests of a visitor: forms, bodies and addresses. */
const number = {
  yaml: 'elements: {f: BASIC, n: NUMBER, _save: {}}',
  html: '{n}{_save}',
  js: 'export const f = () => 1',
};
const send = (name: string, headers: Record<string, string>, body: string, status: number, path = '{id}'): Attack => ({
  name: `yaml-visitor-${name}`,
  block: number,
  requests: [{ path: `/site/@@apps/attack/blocks/${path}`, headers, body }],
  status,
});
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

const visitors: Attack[] = [
  send('number', form, `_save=1&n=${'1'.repeat(900_000)}x`, 422),
  send('encoded', form, `_save=1&n=${'%C3%A9'.repeat(150_000)}`, 422),
  send('not-utf-8', form, `_save=1&n=${'%C3%A9'.repeat(150_000)}%FF`, 400),
  send('digits', json, `{"a":${'9'.repeat(1_000_000)}}`, 400, '{id}/f'),
  send('numbers', json, `{"a":[${'9007199254740992,'.repeat(58_000)}1]}`, 200, '{id}/f'),
  send('strings', json, `{"a":"${'\\"1e999'.repeat(140_000)}"}`, 200, '{id}/f'),
  {
    name: 'yaml-visitor-slashes',
    requests: Array.from({ length: 20 }, () => ({
      method: 'GET',
      path: `/site/a${'/'.repeat(12_000)}b/@@apps/healthy`,
    })),
    status: 404,
  },
];

export const yaml: readonly Attack[] = [...definitions, ...apps, ...rules, ...visitors];
