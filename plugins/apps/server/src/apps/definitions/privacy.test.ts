import { describe, expect, test } from 'vitest';
import { personElements, personNames } from '../elements';
import { readDefinition } from './definition';
import { file } from './testing/definitions';

const read = (text: string) => readDefinition(file(text));

const elements =
  'elements: { name: TEXT, email: { type: EMAIL, person: email }, go: ACTION, made: BASIC, kept: { type: BASIC, mode: COMPUTED_ON_SAVE } }';

describe('keep and anonymize', () => {
  test.each([
    ['keep: 180 days', { keep: { count: 180, unit: 'day' }, anonymize: null }],
    ['keep: 1 year', { keep: { count: 1, unit: 'year' }, anonymize: null }],
    [
      'keep: 6 months\nanonymize: [name, kept]',
      { keep: { count: 6, unit: 'month' }, anonymize: ['name', 'kept', 'email'] },
    ],
    ['anonymize: [email, email]', { keep: null, anonymize: ['email'] }],
    ['title: A', { keep: null, anonymize: null }],
  ])('%s', (keys, expected) => {
    expect(read(`${keys}\n${elements}`).privacy).toEqual(expected);
  });

  test.each([
    ['keep: 180', 'This must be a time such as "180 days" or "2 years", not the number 180'],
    ['keep: 5 hours', 'This must be a time such as'],
    ['keep: 0 days', 'This must be a time such as'],
    ['keep: 1000 years', 'This is longer than 100 years'],
    ['keep: [1 day]', 'This must be a time such as'],
    ['anonymize: email', 'This must be a list of names of elements'],
    ['anonymize: []', 'This list is empty'],
    ['anonymize: [nmae]', 'There is no element "nmae", did you mean "name"?'],
    ['anonymize: [go]', 'The value of "go" is not stored'],
    ['anonymize: [made]', 'The value of "made" is not stored'],
    ['anonymize: [{ a: 1 }]', 'This must be a list of names of elements'],
  ])('%s is refused', (keys, message) => {
    expect(() => read(`${keys}\n${elements}`)).toThrow(message);
  });
});

describe('person', () => {
  test.each([
    ['elements: { a: { type: EMAIL, person: name } }', 'This must be "email"'],
    ['elements: { a: { type: EMAIL, person: true } }', 'This must be "email"'],
    ['elements: { a: { type: TEXT, person: email } }', 'The key "person" is not known for the type TEXT'],
  ])('%s is refused', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test('stands in elements and in entries', () => {
    const definition = read(
      'elements: { email: { type: EMAIL, person: email }, other: EMAIL, guests: { type: REPEAT, elements: { who: TEXT, mail: { type: EMAIL, person: email } } } }',
    );
    expect(personElements(definition)).toEqual({ own: ['email'], groups: new Map([['guests', ['mail']]]) });
    expect(personNames({ blocks: new Map([['a', { definition }]]) } as never)).toEqual(new Set(['email', 'mail']));
  });
});
