import { describe, expect, test } from 'vitest';
import type { StoredRecord } from '../types';
import { itemsJson, toRecord } from './rows';

const row = (items: string) => ({ id: 7, identifier: 'a "b"', items, creator: null, version: 2 });

describe('the JSON of a read record is that of its items with its id', () => {
  test.each([
    '{}',
    '{"title":"A","total":1.5}',
    '{"title":"a \\"id\\" in a text"}',
    '{"nested":{"id":"c"},"list":[{"id":1}]}',
    '{"id":"stale","title":"A"}',
    '{ }',
    '{ "title": "with blanks" }\n',
    '{"__proto__":{"polluted":1}}',
    '{"odd":"\\ud800\u2028"}',
  ])('%s', (items) => {
    const expected = { ...(JSON.parse(items) as object), id: 'a "b"' };
    expect(itemsJson(toRecord(row(items)))).toBe(JSON.stringify(expected));
  });

  test('also of a record that was changed since', () => {
    const read = toRecord(row('{"title":"old"}'));
    const changed: StoredRecord = { ...read, items: { title: 'new' } };
    expect(read.items).toEqual({ title: 'old' });
    expect(itemsJson(changed)).toBe('{"title":"new","id":"a \\"b\\""}');
  });
});

test('a read record has the values of its row, and parses its items once', () => {
  const record = toRecord(row('{"title":"A"}'));
  expect(record).toMatchObject({ id: 'a "b"', items: { title: 'A' }, creator: null, version: 2, seq: 7 });
  expect(record.items).toBe(record.items);
});
