import { describe, expect, test } from 'vitest';
import { errorText } from '../../common/errors';
import { elementTypes } from '../elements';
import { readDefinition } from './definition';
import { failure, file } from './testing/definitions';

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
      kind: elementTypes.get('NUMBER'),
      indexType: 'field',
      settings: { min: 0 },
      default: 3,
      label: '12',
      position: { file: 'blocks/rate.yaml', line: 9, column: 10 },
    });
    expect(definition.elements.get('color')).toMatchObject({
      default: 2,
      settings: {
        options: [
          { value: 'red', label: 'red' },
          { value: 2, label: 'two' },
        ],
      },
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

  test.each([
    ['{type: RADIO, options: [true, false], default: false}', false],
    ['{type: SELECT, options: [true, {value: false, label: no}], default: false}', false],
    ['{type: CHECKBOXES, options: [true, false], default: [false]}', [false]],
    ['{type: RADIO, options: [true, false], default: true}', true],
    ['{type: BOOLEAN, default: false}', false],
    ['{type: BOOLEAN, default: true}', true],
    ['{type: TEXT, default: false}', 'false'],
  ])('%s has the default %j', (text, value) => {
    expect(readDefinition(file(`elements: {a: ${text}}`)).elements.get('a')?.default).toEqual(value);
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
    ['elements: {a: {type: NUMBER, default: false}}', 1, 39, /Please enter a number/],
    ['elements: {a: {type: NUMBER, step: 0}}', 1, 36, /above 0/],
    ['elements: {a: {type: DATE, min: 2026-02-30}}', 1, 33, /must be a date/],
    ['elements: {a: {type: DATETIME, min: 2026-02-03}}', 1, 37, /date and time/],
    ['elements: {a: {type: DATETIME, max: "2026-02-03T10:00Z"}}', 1, 37, /leave out the time zone/],
    ['elements: {a: {type: TEXT, minlength: -1}}', 1, 39, /whole number/],
    ['elements: {a: {type: TEXT, required: yes}}', 1, 38, /true or false, not the text "yes"/],
    ['elements: {a: {type: TEXT, pattern: "("}}', 1, 37, /pattern cannot be used/],
    ['elements: {a: {type: TEXT, pattern: "(?=x)"}}', 1, 37, /look-ahead/],
    ['elements: {a: {type: SELECT, options: {a: b}}}', 1, 39, /Options are a list/],
    ['elements: {a: {type: SELECT, options: [1, "1"]}}', 1, 39, /different values/],
    [
      'elements: {a: {type: SELECT, options: [1.1, 1.10]}}',
      1,
      39,
      /1\.1 is there twice: put texts of digits in quotes/,
    ],
    ['elements: {a: {type: SELECT, options: [x, y, x]}}', 1, 39, /The value x is there twice$/],
    ['elements: {a: {type: SELECT, options: [x], default: y}}', 1, 53, /one of the options/],
    ['elements: {a: {type: SELECT, options: [x], default: [x]}}', 1, 53, /one value/],
    ['elements: {a: {type: TEXT, index_type: fields}}', 1, 40, /did you mean "field"/],
    ['elements: {_save: TEXT}', 1, 19, /built-in action/],
    ...['_csrf', '_next', '_pages', '_draft_email', '_state', '_maker'].map(
      (name): [string, number, number, RegExp] => [
        `elements: {${name}: TEXT}`,
        1,
        14 + name.length,
        /of the plugin's own/,
      ],
    ),
    ['elements: {a: {type: TEXT, rows: 3}}', 1, 28, /"rows".*type TEXT/],
    ['elements: {a: {type: TEXTAREA, rows: 0}}', 1, 38, /1 to 100/],
    ['elements: {a: {type: TEL, inputmode: x}}', 1, 38, /"none" or "text"/],
    ['elements: {a: {type: TEXT, autocomplete: "1;2"}}', 1, 42, /autocomplete/],
    ['elements: {a: {type: FILE, max_size: 5 miles}}', 1, 38, /a size/],
    ['elements: {a: {type: FILE, max_pixels: 0}}', 1, 40, /a whole number of pixels/],
    ['elements: {a: {type: IMAGE, max_pixels: 1.5}}', 1, 41, /a whole number of pixels/],
    ['elements: {a: {type: IMAGE, max_pixels: 2 MP}}', 1, 41, /a whole number of pixels/],
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
    ['elements: {_draft: {label: Later}}', 1, 12, /needs "drafts: true"/],
    ['{drafts: true, elements: {_draft: TEXT}}', 1, 35, /its type is ACTION/],
    ['drafts: 30 days', 1, 9, /true or false/],
    ['title: [a]', 1, 8, /must be text|expected/],
    ['target: iframe', 1, 9, /"ajax"/],
    [
      'targt: ajax',
      1,
      1,
      /did you mean "target"\? Allowed: anonymize, cache, closed, closes, drafts, elements, full, keep, limit, limit_per_requester, notify, opens, pages, receipt, refresh, schedules, self_service, states, target, title, view, view_permission, waiting_list/,
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
});
