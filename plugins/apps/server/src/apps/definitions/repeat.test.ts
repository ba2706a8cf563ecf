import { describe, expect, test } from 'vitest';
import { fieldsOf } from '../elements';
import { readDefinition } from './definition';
import { failure as failureOf } from './testing/definitions';

const read = (text: string) => readDefinition({ path: 'blocks/a.yaml', text });

const failure = (text: string) => failureOf(() => read(text));

const group = (keys: string, fields = 'name: TEXT') =>
  `elements:\n  a: { type: REPEAT, elements: { ${fields} }${keys} }`;
const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}: TEXT`).join(', ');
const options = (count: number) => `s: { type: SELECT, options: [${Array.from({ length: count }, (_, n) => n)}] }`;

describe('a REPEAT', () => {
  test('has fields, bounds and labels', () => {
    const text = group(
      ', min: 1, max: 3, entry_label: Guest, add_label: More',
      'name: TEXT, age: { type: NUMBER, min: 0 }',
    );
    const element = read(text).elements.get('a');
    expect(element).toMatchObject({ settings: { min: 1, max: 3, entryLabel: 'Guest', addLabel: 'More' } });
    expect([...((element && fieldsOf(element))?.values() ?? [])]).toMatchObject([
      { name: 'name', type: 'TEXT' },
      { name: 'age', type: 'NUMBER', settings: { min: 0 } },
    ]);
  });

  test.each<[string, string, RegExp]>([
    ['no fields', 'elements:\n  a: REPEAT', /needs "elements"/],
    ['an empty mapping', group('', ''), /needs "elements"/],
    ['a list', 'elements:\n  a: { type: REPEAT, elements: [name] }', /must be a mapping/],
    ['itself', group('', 'b: { type: REPEAT, elements: { c: TEXT } }'), /do not stand in each other/],
    ['a short form of itself', group('', 'b: REPEAT'), /do not stand in each other/],
    ['an action', group('', 'b: { type: ACTION }'), /no actions of its own/],
    ['HTML', group('', 'b: BASIC'), /fields only/],
    ['a group', group('', 'b: { type: GROUP, elements: [] }'), /a group already/],
    ['an unknown type', group('', 'b: TXET'), /not known, did you mean "TEXT"/],
    ['an unknown key', group('', 'b: { type: TEXT, lable: x }'), /"lable" is not known/],
    ['a computed field', group('', 'b: { type: TEXT, mode: COMPUTED_ON_SAVE }'), /does not take "mode"/],
    ['an index', group('', 'b: { type: TEXT, index_type: field }'), /does not take "index_type"/],
    ['an index of the whole', group(', index_type: field'), /"index_type" is not known/],
    ['a name with a colon', group('', "'b:c': TEXT"), /cannot be the name of a field/],
    ['a built-in name', group('', '_save: TEXT'), /must not begin with "_"/],
    ['a condition on a field outside', group('', 'b: { type: TEXT, show_if: { z: 1 } }'), /names "z"/],
    ['bounds that cross', group(', min: 3, max: 2'), /3, is above the greatest, 2/],
    ['a negative bound', group(', min: -1'), /from 0 to 100/],
    ['too many entries', group(', max: 101'), /from 0 to 100/],
    ['too many fields of all entries', group(', max: 100', many(9)), /at most 90 entries/],
    ['too many options of all entries', group(', max: 21', options(1000)), /more than 20000 options/],
    [
      'too many targets of all entries',
      group('', 'b: { type: REFERENCE, app: a, multiple: true }'),
      /more than 500 targets/,
    ],
    [
      'too many fields, some to look for targets',
      group(', max: 100', `${many(7)}, b: { type: REFERENCE, app: a }`),
      /90 entries/,
    ],
    ['a greatest number of one target', group('', 'b: { type: REFERENCE, app: a, max: 2 }'), /is for a reference with/],
    ['too many files of all entries', group(', max: 26', 'b: { type: FILE, multiple: true }'), /more than 500 files/],
    [
      'many groups',
      `elements:\n${[1, 2, 3].map((n) => `  g${n}: { type: REPEAT, max: 1, elements: { ${many(200)} } }`).join('\n')}`,
      /at most 500 fields/,
    ],
  ])('refuses %s', (_what, text, message) => {
    const error = failure(text);
    expect(error.message).toMatch(message);
    expect(error.position?.line).toBe(text.startsWith('elements:\n  g1') ? 4 : 2);
  });
});
