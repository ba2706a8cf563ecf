import { expect, test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '../apps/definitions/settings';
import { keysOf, validate } from './validation';

const inner = keysOf({ a: z.number('must be a number').optional() }, () => 'must be a mapping');
const schema = keysOf({ inner, mode: z.union([z.string('text'), inner]).optional() }, () => 'must be a mapping');
const problems = (value: unknown) =>
  validate(schema, value).problems?.map(({ path, wrong, message }) => [path.join('.'), wrong, message]);

test('a right value has no problems', () => {
  expect(validate(schema, { inner: { a: 1 }, mode: 'x' })).toEqual({ value: { inner: { a: 1 }, mode: 'x' } });
});

test('unknown keys come first, the outer ones before the inner ones; the message is the known keys', () => {
  expect(problems({ inner: { a: 'x', b: 1 }, c: 1 })).toEqual([
    ['c', 'unknown key', 'inner, mode'],
    ['inner.b', 'unknown key', 'a'],
    ['inner.a', 'value', 'must be a number'],
  ]);
});

test('the closest alternative of a union says what is wrong', () => {
  expect(problems({ inner: {}, mode: { a: 'x' } })).toEqual([['mode.a', 'value', 'must be a number']]);
  expect(problems({ inner: {}, mode: 1 })).toEqual([['mode', 'value', 'text']]);
});

test('the key __proto__ is unknown, too', () => {
  expect(problems(JSON.parse('{"inner": {}, "__proto__": 1}'))).toEqual([['__proto__', 'unknown key', 'inner, mode']]);
});

test('at most twenty unknown keys are named', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 1]));
  expect(problems({ inner: {}, ...many })).toHaveLength(20);
});

test('the first mistake of a file is the error', () => {
  const text = 'acl:\n  rights: {reader: eric}\n  roles: {"a b": []}\ndebug: 1\ntitle: x';
  expect(() => readSettings({ path: 'settings.yaml', text })).toThrow(
    expect.objectContaining({ position: { file: 'settings.yaml', line: 2, column: 20 } }),
  );
});
