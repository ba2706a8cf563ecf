import { describe, expect, test } from 'vitest';
import { readDefinition } from './definition';
import { failure as failureOf } from './testing/definitions';

const elements = `elements:
  a: TEXT
  b: { type: TEXT, show_if: { a: x } }
  c: TEXT
  g: { type: GROUP, elements: [c] }
`;
const read = (text: string) => readDefinition({ path: 'blocks/a.yaml', text: elements + text });

const failure = (text: string) => failureOf(() => read(text));

describe('pages', () => {
  test('give their elements, also those of groups, a condition', () => {
    const { pages, elements } = read(
      'pages: [{ title: 1, elements: [a] }, { title: B, elements: [b, g], show_if: { a: { not: y } } }]',
    );
    expect(pages).toMatchObject([{ title: '1', elements: ['a'] }, { title: 'B' }]);
    expect(pages?.[1]?.showIf).toMatchObject({ a: { values: ['y'], not: true } });
    for (const name of ['b', 'c', 'g']) expect(elements.get(name)?.showIf).toHaveProperty('a');
    const both = { values: ['y'], not: true, also: { values: ['x'], not: false } };
    expect(elements.get('b')?.showIf).toMatchObject({ a: both });
  });

  test.each<[string, RegExp]>([
    ['pages: {}', /must be a list of pages/],
    ['pages: []', /must be a list of pages/],
    ['pages: [a]', /must be a mapping/],
    ['pages: [{ elements: [a] }]', /needs a "title"/],
    ['pages: [{ title: A }]', /needs "elements"/],
    ['pages: [{ title: A, elements: [] }]', /needs "elements"/],
    ['pages: [{ title: A, elements: a }]', /list of names/],
    ['pages: [{ title: A, elements: [a], next: x }]', /"next" is not known/],
    ['pages: [{ title: A, elements: [z] }]', /no element "z"/],
    ['pages: [{ title: A, elements: [_save] }]', /no element "_save"/],
    ['pages: [{ title: A, elements: [a, a] }]', /"a" is on page 1 already/],
    ['pages: [{ title: A, elements: [a] }, { title: B, elements: [a] }]', /"a" is on page 1 already/],
    ['pages: [{ title: A, elements: [c] }]', /in the group "g"/],
    ['pages: [{ title: A, elements: [b] }, { title: B, elements: [a] }]', /"a", which is on a later page/],
    ['pages: [{ title: A, elements: [a], show_if: { a: x } }]', /condition names "a"|fields of pages before it/],
    ['pages: [{ title: A, elements: [a] }, { title: B, elements: [b, g], show_if: { g: x } }]', /no field/],
    [`pages: [${Array.from({ length: 21 }, () => '{ title: A, elements: [a] }')}]`, /at most 20 pages/],
    [`pages: [{ title: A, elements: [${Array.from({ length: 201 }, () => 'a')}] }]`, /at most 200 elements/],
  ])('refuses %s', (text, message) => {
    expect(failure(text).message).toMatch(message);
  });
});
