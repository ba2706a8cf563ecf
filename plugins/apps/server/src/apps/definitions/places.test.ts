import { describe, expect, test } from 'vitest';
import { openAt } from '../run/places/rules';
import type { Places } from '../types';
import { readDefinition } from './definition';
import { failure, file } from './testing/definitions';

const places = (text: string) => readDefinition(file(text)).places;

describe('when and how many', () => {
  test.each([
    ['title: a', null],
    ['elements: {a: {type: SELECT, options: [b, {value: c}]}}', null],
    ['limit: 3', { limit: 3, waitingList: false, perRequester: null, opens: null, closes: null, unique: [] }],
    ['limit_per_requester: 1', { perRequester: 1, limit: null }],
    ['{limit: 3, waiting_list: true, full: 12}', { waitingList: true, full: '12' }],
    ['opens: 2026-12-01', { opens: { shown: '2026-12-01', clock: Date.UTC(2026, 11, 1) } }],
    ['opens: 2026-12-01 09:30', { opens: { shown: '2026-12-01T09:30', clock: Date.UTC(2026, 11, 1, 9, 30) } }],
    ['opens: 2026-12-01T09:30', { opens: { shown: '2026-12-01T09:30', clock: Date.UTC(2026, 11, 1, 9, 30) } }],
    ['closes: 2026-12-01', { closes: { shown: '2026-12-01', clock: Date.UTC(2026, 11, 2) } }],
    ['closes: 2026-12-01 00:00', { closes: { clock: Date.UTC(2026, 11, 1) } }],
    ['{closes: 2026-12-01, closed: over}', { closed: 'over', full: null }],
    ['elements: {a: {type: TEXT, unique: true}, b: TEXT}', { unique: ['a'], limited: [] }],
    ['elements: {a: {type: RADIO, options: [{value: b, limit: 2}, c]}}', { unique: [], limited: ['a'] }],
  ])('%s', (text, expected) => {
    if (expected === null) expect(places(text)).toBeNull();
    else expect(places(text)).toMatchObject(expected);
  });

  test.each([
    ['limit: 0', 1, 8, /whole number from 1 to 1000000, not the number 0/],
    ['limit: -1', 1, 8, /whole number/],
    ['limit: 1.5', 1, 8, /whole number/],
    ['limit: many', 1, 8, /not the text "many"/],
    ['limit: 2000000', 1, 8, /1000000/],
    ['limit_per_requester: 0', 1, 22, /whole number/],
    ['opens: tomorrow', 1, 8, /a date such as 2026-12-01, or a date and time/],
    ['opens: 2026-02-30', 1, 8, /not the text "2026-02-30"/],
    ['opens: 2026', 1, 8, /not the number 2026/],
    ['opens: 01.12.2026', 1, 8, /date such as/],
    ['opens: 2026-12-01T25:00', 1, 8, /date such as/],
    ['closes: 2026-12-01T09:30Z', 1, 9, /leave out the time zone/],
    ['closes: 2026-12-01T09:30+01:00', 1, 9, /leave out the time zone/],
    ['opens: 2026-12-02\ncloses: 2026-12-01', 2, 9, /not after "opens"/],
    ['waiting_list: true', 1, 1, /needs a "limit"/],
    ['waiting_list: 3', 1, 15, /true or false/],
    ['full: no', 1, 1, /never full/],
    ['closed: over', 1, 1, /never closed/],
    ['limit: 1\nfull: "{limits} gone"', 2, 7, /\{limits\}: there are \{opens\}/],
    ['limit: 1\nfull: "from {opens}"', 2, 7, /has no "opens"/],
    ['receipt: {to: a}\nelements: {a: TEXT}\nlimit: 1\nwaiting_list: true', 1, 15, /of the type EMAIL/],
    ['receipt: {}', 1, 10, /needs a "to"/],
    ['receipt: {to: a, confirm: maybe}\nelements: {a: EMAIL}', 1, 27, /true or false/],
    ['receipt: {to: a, cofirm: true}\nelements: {a: EMAIL}', 1, 18, /did you mean "confirm"/],
    ['receipt: {to: b}\nelements: {a: EMAIL}', 1, 15, /of the type EMAIL, not "b"/],
    ['elements: {a: {type: FILE, unique: true}}', 1, 28, /"unique" is not known for the type FILE/],
    ['elements: {a: {type: BOOLEAN, unique: true}}', 1, 31, /not known for the type BOOLEAN/],
    ['elements: {a: {type: CHECKBOXES, unique: true}}', 1, 34, /not known for the type CHECKBOXES/],
    ['elements: {a: {type: SELECT, multiple: true, unique: true}}', 1, 46, /one value/],
    ['elements: {a: {type: REPEAT, elements: {b: {type: TEXT, unique: true}}}}', 1, 57, /does not take "unique"/],
    ['elements: {a: {type: SELECT, options: [{value: b, limit: 0}]}}', 1, 58, /whole number from 1/],
    ['elements: {a: {type: SELECT, options: [{value: b, limt: 1}]}}', 1, 39, /"value", and with "label" and "limit"/],
    ['elements: {a: {type: TEXT, unique: yes}}', 1, 36, /true or false/],
  ])('refuses "%s"', (text, line, column, message) => {
    const error = failure(() => readDefinition(file(text)));
    expect(error.message).toMatch(message);
    expect(error.position).toMatchObject({ line, column });
  });
});

test('a receipt', () => {
  const { receipt } = readDefinition(
    file('{receipt: {to: mail, subject: "Hi {name}", confirm: true}, elements: {mail: EMAIL}}'),
  );
  expect(receipt).toMatchObject({
    to: 'mail',
    subject: 'Hi {name}',
    block: null,
    confirm: true,
    position: { line: 1 },
  });
});

describe('a block', () => {
  const rules = places('opens: 2026-12-01 09:00\ncloses: 2026-12-01') as Places;
  test.each([
    ['2026-12-01T07:59:59.999Z', 'not_open', '2026-12-01T08:00:00.000Z'],
    ['2026-12-01T08:00:00.000Z', 'open', '2026-12-01T23:00:00.000Z'],
    ['2026-12-01T22:59:59.999Z', 'open', '2026-12-01T23:00:00.000Z'],
    ['2026-12-01T23:00:00.000Z', 'closed', null],
  ])('in Berlin at %s', (now, state, until) => {
    const found = openAt(rules, { timeZone: 'Europe/Berlin' }, Date.parse(now));
    expect(found.state).toBe(state);
    expect(found.until && new Date(found.until).toISOString()).toBe(until);
  });
});
