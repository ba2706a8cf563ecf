import { expect, test } from 'vitest';
import type { Items } from '../../../../../shared/json';
import { elementOf } from '../../elements/testing/element';
import { mailLines } from './readable-values';

const elements = (...all: { name: string; type: string; [given: string]: unknown }[]) =>
  new Map(all.map(({ type, ...given }) => [given.name, elementOf(type, given)]));

const form = elements(
  { name: 'name', type: 'TEXT', label: 'Name' },
  { name: 'kind', type: 'SELECT', label: 'I am', options: [{ value: 'club', label: 'A club' }] },
  { name: 'days', type: 'CHECKBOXES', options: [{ value: 1, label: 'Monday' }] },
  { name: 'news', type: 'BOOLEAN', label: 'Newsletter' },
  { name: 'plan', type: 'FILE', label: 'Plan' },
  {
    name: 'guests',
    type: 'REPEAT',
    label: 'Guests',
    fields: elements(
      { name: 'name', type: 'TEXT', label: 'Name' },
      { name: 'child', type: 'BOOLEAN', label: 'A child' },
    ),
  },
  { name: 'send', type: 'ACTION' },
);

const say = (message: 'yes' | 'no') => ({ yes: 'Ja', no: 'Nein' })[message];

test('a mail names fields, options, files and entries as their form does', () => {
  const plan = {
    id: 7,
    documentId: 'a1',
    name: 'plan.pdf',
    url: '/uploads/plan.pdf',
    mime: 'application/pdf',
    size: 9,
  };
  const items: Items = {
    name: 'Ada',
    kind: 'club',
    days: [1, 2],
    news: false,
    plan,
    guests: [{ name: 'Bob', child: true } as Items, { name: 'Cy' }],
    send: 'x',
    other: 'not of the form',
  };
  expect(mailLines(form, items, say)).toEqual([
    'Name: Ada',
    'I am: A club',
    'days: Monday, 2',
    'Newsletter: Nein',
    'Plan: plan.pdf',
    'Guests:',
    '  1. Name: Bob, A child: Ja',
    '  2. Name: Cy',
  ]);
});

test.each<[items: object, lines: string[]]>([
  [{ guests: null, plan: null }, ['Plan: ', 'Guests: ']],
  [{ guests: 'none', kind: { odd: 1 } }, ['I am: {"odd":1}', 'Guests: none']],
  [{ guests: [] }, ['Guests:']],
])('any stored value is shown: %j', (items, lines) => {
  expect(mailLines(form, items as never, say)).toEqual(lines);
});

test.each([
  ['de', ['day: 1. März 2026', 'at: 1. März 2026, 09:30', 'clock: 09:30', 'num: 1.234,5', 'all:', '  1. num: 0,5']],
  [
    'en',
    ['day: March 1, 2026', 'at: March 1, 2026, 9:30 AM', 'clock: 9:30 AM', 'num: 1,234.5', 'all:', '  1. num: 0.5'],
  ],
])('dates and numbers of a mail are in its language: %s', (tag, lines) => {
  const dated = elements(
    { name: 'day', type: 'DATE' },
    { name: 'at', type: 'DATETIME' },
    { name: 'clock', type: 'TIME' },
    { name: 'num', type: 'NUMBER' },
    { name: 'all', type: 'REPEAT', fields: elements({ name: 'num', type: 'NUMBER' }) },
  );
  const items = { day: '2026-03-01', at: '2026-03-01T09:30', clock: '09:30', num: 1234.5, all: [{ num: 0.5 }] };
  expect(mailLines(dated, items, say, { tag, timeZone: 'America/New_York' })).toEqual(lines);
});

test.each([
  [{ day: null, num: null }, ['day: ', 'num: ']],
  [{ day: '01.03.2026', num: 'x' }, ['day: 01.03.2026', 'num: x']],
])('a value of another type is as it is stored: %j', (items, lines) => {
  const dated = elements({ name: 'day', type: 'DATE' }, { name: 'num', type: 'NUMBER' });
  expect(mailLines(dated, items, say, { tag: 'de', timeZone: null })).toEqual(lines);
});
