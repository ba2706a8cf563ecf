import { describe, expect, test } from 'vitest';
import type { Items, Json } from '../../../../shared/json';
import { isAppsError } from '../../common/errors';
import { readParams } from './params';

const allowed = [
  'documentId',
  'data',
  'filters',
  'sort',
  'fields',
  'populate',
  'pagination',
  'start',
  'limit',
  'locale',
  'status',
];
const read = (params: Items, required: string[] = []) =>
  readParams(params, { method: 'findMany', allowed, required, limits: { defaultLimit: 25, maxLimit: 100 } });

const refusal = (params: unknown, required?: string[]): string => {
  try {
    read(params as Items, required);
  } catch (error) {
    if (isAppsError(error, 'BadRequestError')) return error.message;
    throw error;
  }
  return 'accepted';
};

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** Each level contains the next one twice: few levels, many objects. */
const doubled = (levels: number): Json =>
  levels === 0 ? { title: 'a' } : { $and: [doubled(levels - 1), doubled(levels - 1)] };

const nested = (levels: number): Json => (levels === 0 ? 'x' : { $not: nested(levels - 1) });

describe('parameters', () => {
  test.each<[string, unknown, RegExp]>([
    ['not an object', [], /takes an object/],
    ['an unknown one', { _q: 'x' }, /Unknown parameter "_q"/],
    ['a name of Object', { constructor: 1 }, /Unknown parameter "constructor"/],
    ['a document id that is a filter', { documentId: { $ne: null } }, /"documentId".* must be/],
    ['an empty document id', { documentId: '' }, /"documentId"/],
    ['a document id with a NUL', { documentId: 'a\0' }, /"documentId"/],
    ['data that is a list', { data: [] }, /"data".* an object/],
    ['filters of the wrong type', { filters: 'x' }, /"filters"/],
    ['filters with a wrong entry', { filters: [1] }, /"filters"/],
    ['sort of the wrong type', { sort: 1 }, /"sort"/],
    ['fields of the wrong type', { fields: [1] }, /"fields"/],
    ['populate of the wrong type', { populate: true }, /"populate"/],
    ['a limit that is a string', { limit: '5' }, /"limit"/],
    ['a limit that is not a number', { limit: Number.NaN }, /"limit"/],
    ['a negative start', { start: -1 }, /"start"/],
    ['a page from 0', { pagination: { page: 0 } }, /"page"/],
    ['an unknown key of pagination', { pagination: { withCount: true } }, /"withCount"/],
    ['a locale that is a filter', { locale: { $ne: 'en' } }, /"locale"/],
    ['a locale that is no code', { locale: "en' or 1" }, /"locale"/],
    ['an unknown status', { status: 'modified' }, /"status"/],
    ['a way to a prototype', JSON.parse('{"filters":{"$and":[{"__proto__":{"a":1}}]}}'), /__proto__/],
    ['too much nesting', { filters: nested(60) }, /levels deep/],
    ['too many conditions', { filters: { $or: times(101, { title: 'a' }) } }, /The query has more than 100 objects/],
    ['too many nested conditions', { filters: doubled(8) }, /more than 100 objects/],
    ['too many values', { filters: { title: { $in: times(251, 'a') } } }, /The query has more than 250 values/],
    ['a very long value', { filters: { title: 'x'.repeat(10_001) } }, /more than 10000 characters/],
    ['a very long name', { filters: { ['x'.repeat(10_001)]: 1 } }, /more than 10000 characters/],
    ['too many sorts', { sort: times(6, 'title') }, /"sort" has more than 5 names/],
    ['too many sorts in a text', { sort: times(6, 'title').join(',') }, /"sort" has more than 5 names/],
    ['too many sorts as objects', { sort: times(6, { title: 'asc' }) }, /"sort" has more than 5 names/],
    ['too many fields', { fields: times(101, 'title') }, /"fields" has more than 100 names/],
    ['too many relations', { populate: times(51, 'tiles').join(',') }, /"populate" has more than 50 names/],
    ['a path without an end', { populate: times(100, 'tiles').join('.') }, /a name of more than 20 parts/],
    ['a sort by such a path', { sort: [times(100, 'tiles').join('.')] }, /a name of more than 20 parts/],
    [
      'parameters that are too large together',
      { filters: { title: { $in: times(200, 'a') } }, populate: times(51, 'a') },
      /The query has more than 250 values/,
    ],
    ['too much data', { data: { list: times(10_001, 1) } }, /"data" has more than 10000 values/],
  ])('are refused: %s', (_name, params, message) => {
    expect(refusal(params)).toMatch(message);
  });

  test.each<[string, unknown]>([
    ['none', {}],
    ['null for a missing value', { filters: null, limit: null, status: null }],
    ['some nesting', { filters: nested(18) }],
    ['every kind of sort', { sort: ['title', { createdAt: 'desc' }] }],
    ['all languages', { locale: '*' }],
    ['a list of ids', { filters: { documentId: { $in: times(250, 'x'.repeat(24)) } } }],
    ['many conditions', { filters: { $or: times(99, { title: 'a' }) } }],
    ['a long text', { data: { body: 'x'.repeat(900_000) } }],
  ])('are taken: %s', (_name, params) => {
    expect(refusal(params)).toBe('accepted');
  });

  test('may be required', () => {
    expect(refusal({}, ['documentId'])).toMatch(/needs the parameter "documentId"/);
    expect(refusal({ documentId: null }, ['documentId'])).toMatch(/needs/);
    expect(refusal({ documentId: 'abc' }, ['documentId'])).toBe('accepted');
  });

  test.each<[Items, { start: number; limit: number }]>([
    [{}, { start: 0, limit: 25 }],
    [{ limit: 5 }, { start: 0, limit: 5 }],
    [{ limit: 5000 }, { start: 0, limit: 100 }],
    [{ limit: -1 }, { start: 0, limit: 100 }],
    [
      { start: 3, limit: 5 },
      { start: 3, limit: 5 },
    ],
    [{ pagination: { start: 3, limit: 5 } }, { start: 3, limit: 5 }],
    [{ pagination: { page: 3, pageSize: 10 } }, { start: 20, limit: 10 }],
    [{ pagination: { page: 2 } }, { start: 25, limit: 25 }],
    [{ pagination: { page: 2, pageSize: 500 } }, { start: 100, limit: 100 }],
  ])('page %j', (params, page) => {
    expect(read(params).page).toEqual(page);
  });

  test('select published content by default', () => {
    expect(read({}).status).toBe('published');
    expect(read({ status: 'draft' }).status).toBe('draft');
  });
});
