import { describe, expect, test } from 'vitest';
import { errorText, isAppsError } from '../../errors';
import { readYaml } from '../yaml/yaml';
import { readDefinition } from './definition';
import { readSettings } from './settings';
import { readThemeInfo } from './theme';

const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index));

const file = (text: string, path = 'blocks/rate.yaml') => ({ path, text });

function failure(read: () => unknown) {
  try {
    read();
  } catch (error) {
    if (isAppsError(error, 'DefinitionError')) return error;
    throw error;
  }
  throw new Error('nothing was wrong');
}

describe('readDefinition', () => {
  test('reads the keys of a definition', () => {
    const definition = readDefinition(
      file(`
target: ajax
view: {id: show-report, with_theme: true}
view_permission: [editors, eric]
elements:
  message: BASIC
  like: {type: ACTION, label: Like}
  _save: {label: Send}
  total: {type: NUMBER, index_type: field, min: 0, default: 3, label: 12}
  color: {type: SELECT, options: [red, {value: 2, label: two}], default: 2}
`),
    );
    expect(definition).toMatchObject({
      target: 'ajax',
      view: { id: 'show-report', withTheme: true },
      viewPermission: ['editors', 'eric'],
    });
    expect(definition.elements.get('total')).toEqual({
      name: 'total',
      type: 'NUMBER',
      indexType: 'field',
      min: 0,
      default: 3,
      label: '12',
      position: { file: 'blocks/rate.yaml', line: 9, column: 10 },
    });
    expect(definition.elements.get('color')).toMatchObject({
      default: 2,
      options: [
        { value: 'red', label: 'red' },
        { value: 2, label: 'two' },
      ],
    });
    expect(definition.elements.get('_save')).toMatchObject({ type: 'ACTION', label: 'Send' });
    expect(definition.source.elements).toMatchObject({
      message: { type: 'BASIC' },
      _save: { type: 'ACTION', label: 'Send' },
      total: { type: 'NUMBER', index_type: 'field' },
    });
  });

  test.each([
    ['', { target: null, view: null, viewPermission: null }],
    ['# only a comment', { target: null, view: null, viewPermission: null }],
    ['title: 2026', { title: '2026' }],
    ['title: "{a} b"', { title: '{a} b' }],
    ['view: report', { view: { id: 'report', withTheme: null } }],
    ['with_theme: false', { withTheme: false }],
    ['view_permission: editors eric', { viewPermission: ['editors', 'eric'] }],
    ["view_permission: '*'", { viewPermission: ['*'] }],
    ['view_permission:', { viewPermission: [] }],
    ['elements:', { viewPermission: null }],
  ])('reads %j', (text, expected) => {
    expect(readDefinition(file(text))).toMatchObject(expected);
  });

  test.each<[string, number | undefined, number | undefined, RegExp]>([
    ['elements:\n  a: TEXTT', 2, 6, /"TEXTT" is not known, did you mean "TEXT"\? Known: BASIC/],
    ['elements:\n  a: {type: TEXT, lable: x}', 2, 19, /"lable".*type TEXT, did you mean "label"/],
    ['elements:\n  a: {type: BASIC, label: x}', 2, 20, /"label" is not known for the type BASIC/],
    ['elements:\n  a: {label: x}', 2, 6, /needs a "type"/],
    ['elements:\n  a:', 2, 3, /not nothing/],
    ['elements:\n  a:\n  b: TEXT\ncache: 1', 2, 3, /not nothing/],
    ['elements:\n  a b: TEXT', 2, 3, /"a b" cannot be the name/],
    ['elements:\n  constructor: TEXT', 2, 3, /cannot be the name/],
    ['elements: [TEXT]', 1, 11, /must be a mapping/],
    ['elements: {a: {type: NUMBER, min: x}}', 1, 35, /must be a number/],
    ['elements: {a: {type: NUMBER, min: 3, max: 2}}', 1, 35, /above the greatest/],
    ['elements: {a: {type: NUMBER, min: .nan}}', 1, 35, /Infinite/],
    ['elements: {a: {type: NUMBER, default: x}}', 1, 39, /Please enter a number/],
    ['elements: {a: {type: NUMBER, step: 0}}', 1, 36, /above 0/],
    ['elements: {a: {type: DATE, min: 2026-02-30}}', 1, 33, /must be a date/],
    ['elements: {a: {type: DATETIME, min: 2026-02-03}}', 1, 37, /date and time/],
    ['elements: {a: {type: TEXT, minlength: -1}}', 1, 39, /whole number/],
    ['elements: {a: {type: TEXT, required: yes}}', 1, 38, /true or false, not the text "yes"/],
    ['elements: {a: {type: TEXT, pattern: "("}}', 1, 37, /pattern cannot be used/],
    ['elements: {a: {type: TEXT, pattern: "(?=x)"}}', 1, 37, /look-ahead/],
    ['elements: {a: {type: SELECT, options: {a: b}}}', 1, 39, /Options are a list/],
    ['elements: {a: {type: SELECT, options: [1, "1"]}}', 1, 39, /different values/],
    ['elements: {a: {type: SELECT, options: [x], default: y}}', 1, 53, /one of the options/],
    ['elements: {a: {type: SELECT, options: [x], default: [x]}}', 1, 53, /one value/],
    ['elements: {a: {type: TEXT, index_type: fields}}', 1, 40, /did you mean "field"/],
    ['elements: {_save: TEXT}', 1, 19, /built-in action/],
    ['elements: {a: {type: TEXT, rows: 3}}', 1, 28, /"rows".*type TEXT/],
    ['elements: {a: {type: TEXTAREA, rows: 0}}', 1, 38, /1 to 100/],
    ['elements: {a: {type: TEL, inputmode: x}}', 1, 38, /"none" or "text"/],
    ['elements: {a: {type: TEXT, autocomplete: "1;2"}}', 1, 42, /autocomplete/],
    ['elements: {a: {type: FILE, max_size: 5 miles}}', 1, 38, /a size/],
    ['elements: {a: {type: FILE, accept: image/svg+xml}}', 1, 36, /never taken/],
    ['elements: {a: {type: FILE, accept: [.pdf, .html]}}', 1, 43, /never taken/],
    ['elements: {a: {type: FILE, accept: [image/pgn]}}', 1, 37, /not known/],
    ['elements: {a: {type: FILE, folder: ../x}}', 1, 36, /folder of the media library/],
    ['elements: {a: {type: FILE, index_type: field}}', 1, 28, /"index_type"/],
    ['elements: {a: {type: TEXT, show_if: b}}', 1, 37, /mapping of elements/],
    [
      'elements: {a: {type: TEXT, show_if: {b: 1}}, b: TEXT}',
      1,
      37,
      /"b", which is no field that is declared before "a"/,
    ],
    ['elements: {a: TEXT, b: {type: TEXT, show_if: {a: {is: 1}}}}', 1, 50, /mapping with "not"/],
    ['elements: {a: TEXT, g: {type: GROUP, elements: [aa]}}', 1, 48, /no element "aa", did you mean "a"/],
    ['elements: {g: {type: GROUP, elements: [h]}, h: GROUP}', 1, 39, /do not stand in each other/],
    [
      'elements: {a: TEXT, g: {type: GROUP, elements: [a]}, h: {type: GROUP, elements: [a]}}',
      1,
      81,
      /in the group "g" already/,
    ],
    ['elements: {_save: {validates: true}}', 1, 31, /always checks the form/],
    ['elements: {go: {type: ACTION, validates: 1}}', 1, 42, /true or false/],
    ['title: [a]', 1, 8, /must be text|expected/],
    ['target: iframe', 1, 9, /"ajax"/],
    [
      'targt: ajax',
      1,
      1,
      /did you mean "target"\? Allowed: cache, elements, notify, pages, refresh, target, title, view, view_permission/,
    ],
    ['refresh: 0', 1, 10, /from 1 to 86400/],
    ['refresh: soon', 1, 10, /from 1 to 86400/],
    ['cache: 1.5', 1, 8, /from 1 to 86400/],
    ['cache: on-change', 1, 8, /from 1 to 86400/],
    ['refresh: on-change\ncache: 5', 2, 1, /would hide the changes/],
    ['view: apps.live', 1, 7, /choose another id/],
    ['view: {with_theme: true}', 1, 7, /needs an "id"/],
    ['view: apps', 1, 7, /choose another id/],
    ['view: a/b', 1, 7, /id of a view/],
    ['view_permission: 3', 1, 18, /must be a list/],
    ['view_permission: [3]', 1, 19, /quotes: "3"/],
    ['- a', 1, 1, /must be a mapping/],
    ['a: 1\na: 2', 2, 1, /duplicated mapping key "a"\. Remove one of the two/],
    ['elements:\n  a: TEXT\n  a: NUMBER', 3, 3, /duplicated mapping key "a"/],
    ['elements:\n\ta: TEXT', 2, 1, /tab characters.*\. Indent with spaces/],
    ['elements:\n  a: TEXT\n b: TEXT', 3, 2, /bad indentation.*the same indentation/],
    ['title: {name} of', 1, 15, /Put a text in quotes/],
    ['elements:\n  a: { type: TEXT, label: A: b }', 2, 28, /Put a text in quotes/],
    ['elements:\n  a:TEXT', 2, 3, /write a space after the colon: "a: TEXT"/],
    ['elements: { a: { type: TEXT, index_type: fulltext } }', 1, 42, /"field" or "text" or "keyword"/],
    ['a: !!python/object:os.system x', 1, 4, /unknown scalar tag/],
    ['a: [', 1, 5, /not valid YAML/],
    ['a: *no', 1, 5, /unidentified alias/],
    ['a: &a [*a]', 1, 8, /contains itself/],
    ['a: 1\n---\nb: 1', undefined, undefined, /one YAML document/],
    ['x'.repeat(300_000), undefined, undefined, /longer than/],
    ['__proto__: 1', 1, 1, /not allowed/],
  ])('refuses %j', (text, line, column, message) => {
    const error = failure(() => readDefinition(file(text)));
    expect(error.message).toMatch(message);
    expect(errorText(error)).toContain(line ? `blocks/rate.yaml:${line}:${column}: ` : 'blocks/rate.yaml: ');
    expect(error.position).toEqual({ file: 'blocks/rate.yaml', ...(line && { line, column }) });
  });

  const looping = `${'(a|a)*'.repeat(160)}b`;

  test.each<[string, string, number, number, RegExp]>([
    ['elements', ['elements:', ...many(7_000, (i) => `  e${i}: TEXT`)].join('\n'), 502, 3, /at most 500 elements/],
    ['options', `elements: {a: {type: SELECT, options: [${many(1_001, String)}]}}`, 1, 39, /at most 1000 options/],
    [
      'work for default values',
      [
        'elements:',
        `  a: {type: TEXT, pattern: &p ${looping}, default: &d ${'a'.repeat(3_999)}b}`,
        ...many(40, (i) => `  e${i}: {type: TEXT, pattern: *p, default: *d}`),
      ].join('\n'),
      2,
      1006,
      /takes too long/,
    ],
  ])('bounds %s', (_, text, line, column, message) => {
    const error = failure(() => readDefinition(file(text)));
    expect(error.message).toMatch(message);
    expect(error.position).toEqual({ file: 'blocks/rate.yaml', line, column });
  });

  test.each<[string, string, number, number, RegExp]>([
    ['keys', `elements: { a: TEXT }\n"${'k'.repeat(1_001)}": 1`, 2, 1, /A key has at most 1000 characters/],
    ['keys of children', `a:\n  ${'k'.repeat(1_001)}:\n    b: 1`, 2, 3, /A key has at most 1000 characters/],
    ['values', `a:\n  - [${many(30_000, () => 'x')}]`, 2, 59_998, /more than 30000 values and keys/],
    ['the file', `# ${'x'.repeat(128 * 1024)}`, 0, 0, /longer than 128 kB/],
    ['texts', `elements: {a: {type: TEXT, help: ${'x'.repeat(10_001)}}}`, 1, 34, /more than 10000 characters/],
    ['a permission', `view_permission: "${'x'.repeat(20_000)}"`, 1, 18, /more than 10000 characters/],
    ['permissions', `view_permission: [${many(1_001, String)}]`, 1, 18, /at most 1000 names/],
    ['defaults', `elements: {a: {type: CHECKBOXES, default: [${many(1_001, String)}]}}`, 1, 43, /at most 1000 values/],
    [
      'options of a block',
      `elements:\n  a: {type: SELECT, options: &o [${many(1_000, String)}]}\n${many(20, (n) => `  e${n}: {type: SELECT, options: *o}\n`).join('')}`,
      22,
      32,
      /at most 20000 options/,
    ],
    ['properties', `elements: {a: {type: TEXT, pattern: '[${'\\p{L}'.repeat(21)}]'}}`, 1, 37, /more than 20 times/],
    [
      'patterns together',
      `elements:\n${many(60, (n) => `  e${n}: {type: TEXT, pattern: '${'a'.repeat(990)}${n}'}\n`).join('')}`,
      42,
      30,
      /too large together/,
    ],
  ])('bounds %s', (_, text, line, column, message) => {
    const error = failure(() => readDefinition(file(text)));
    expect(error.message).toMatch(message);
    expect(error.message.length).toBeLessThan(400);
    expect(error.position).toEqual({ file: 'blocks/rate.yaml', ...(line && { line, column }) });
  });

  test('reads 500 elements', () => {
    const { elements } = readDefinition(file(['elements:\r', ...many(500, (i) => `  e${i}: TEXT\r`)].join('\n')));
    expect(elements.size).toBe(500);
    expect(elements.get('e499')?.position).toEqual({ file: 'blocks/rate.yaml', line: 501, column: 9 });
  });

  test('checks a value once that aliases repeat', () => {
    const list = `x: &x [${many(20_000, String)}]`;
    expect(failure(() => readDefinition(file(`${list}\ny: [${many(99, () => '*x')}]`))).message).toMatch(
      /"x" is not known/,
    );
  });
});

describe('readYaml', () => {
  const laughs = (levels: number) =>
    ['a0: &a0 [x]', ...Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)].join('\n');

  test('expands up to 100 aliases', () => {
    expect(readYaml(file(laughs(4))).value).toHaveProperty('a4');
    expect(failure(() => readYaml(file(laughs(6)))).message).toMatch(/more than 100 copies/);
  });

  test('refuses a file with a problem', () => {
    expect(errorText(failure(() => readYaml({ path: 'x.yaml', text: '', problem: 'too large' })))).toBe(
      'x.yaml: too large',
    );
  });
});

describe('readSettings', () => {
  test.each([
    ['', { debug: false, withTheme: false, acl: null, source: {} }],
    ['with_theme: true', { withTheme: true }],
    ['debug: true', { debug: true, acl: null, source: { debug: true } }],
    [
      "acl: {rights: {reader: ['*'], author: }, roles: {boss: [eric], none: }}",
      {
        acl: { rights: { reader: ['*'], author: [], editor: [], submitter: [] }, roles: { boss: ['eric'], none: [] } },
      },
    ],
  ])('reads %j', (text, expected) => {
    expect(readSettings(file(text, 'settings.yaml'))).toMatchObject(expected);
  });

  test.each<[string, RegExp]>([
    ['debug: 1', /^settings.yaml:1:8: debug: This must be true or false, not the number 1$/],
    ['acl: {rights: {readers: []}}', /did you mean "reader"/],
    ['acl: {rights: {reader: eric}}', /such as \["eric"\]/],
    ['acl: {roles: {"": []}}', /cannot be the name of a role/],
    ['acl: [x]', /must be a mapping/],
    ['title: x', /"title" is not known.*Allowed: acl, debug/],
  ])('refuses %j', (text, message) => {
    expect(errorText(failure(() => readSettings(file(text, 'settings.yaml'))))).toMatch(message);
  });

  test('bounds the names of all lists together', () => {
    const lists = `a: &n [${many(900, (n) => `u${n}`)}], ${many(11, (n) => `r${n}: *n`)}`;
    expect(errorText(failure(() => readSettings(file(`acl: {roles: {${lists}}}`, 'settings.yaml'))))).toBe(
      'settings.yaml:1:6: acl: The lists hold more than 10000 names together',
    );
  });
});

test('readThemeInfo reads a theme.yaml', () => {
  expect(readThemeInfo(file('title: Basic'))).toEqual({ title: 'Basic' });
  expect(readThemeInfo(file(''))).toEqual({});
  expect(failure(() => readThemeInfo(file('titel: x'))).message).toMatch(/did you mean "title"/);
});
