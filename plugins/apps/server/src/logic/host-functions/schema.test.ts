import { expect, test } from 'vitest';
import { dictionary, list, number, options, problemOf, string } from './row';

const many = 100_000;
const entries = (value: unknown) =>
  Object.fromEntries(Array.from({ length: many }, (_, index) => [`k${index}`, value]));

// zod makes the text of all issues at once: that of one message's entries would keep the server's thread for seconds.
test.each([
  ['a list', list(string), Array(many).fill(1), '[0] must be a string'],
  ['a dictionary', dictionary(number), entries(''), 'k0 must be a number'],
  ['options', options({ limit: number }), entries(1), ' has no option k0'],
])('%s of many wrong entries has one problem', (_, schema, value, message) => {
  const { error } = schema.safeParse(value);
  expect(error?.issues).toHaveLength(1);
  expect(error && problemOf(error)).toBe(message);
});

test.each([
  ['a list', list(string), ['a', 'b']],
  ['a dictionary', dictionary(number), { a: 1, constructor: 2 }],
  ['options', options({ limit: number }), { limit: 1 }],
])('%s of right entries is given as it came', (_, schema, value) => {
  expect(schema.parse(value)).toEqual(value);
});
