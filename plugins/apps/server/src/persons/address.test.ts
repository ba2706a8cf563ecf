import { describe, expect, test } from 'vitest';
import { readWho, searchOf } from './address';

describe('an address in texts', () => {
  test.each([
    ['anna@example.org', 'to anna@example.org, ben', true],
    ['anna@example.org', 'Anna@Example.ORG', true],
    ['anna@example.org', 'joanna@example.org', false],
    ['anna@example.org', 'jo.anna@example.org', false],
    ['anna@example.org', 'anna@example.org.uk', false],
    ['anna@example.org', 'anna@example.org.', true],
    ['anna@example.org', '/form?mail=anna%40example.org&x=1', true],
    ['anna@example.org', 'a%20anna%40example.org', true],
    ["o'neil@example.org", 'o&#39;neil@example.org', true],
    ['anna@bücher.example', 'anna@xn--bcher-kva.example', true],
    ['anna@xn--bcher-kva.example', 'anna@bücher.example', true],
    ['a%@example.org', 'abc@example.org', false],
    ['a_c@example.org', 'abc@example.org', false],
    ['a+b@example.org', '<a+b@example.org>', true],
  ])('%s in %j: %j', (address, text, isIn) => {
    const search = searchOf(address);
    expect(search.isIn(text)).toBe(isIn);
    expect(search.isInValue({ list: [{ [text]: 1 }, text] })).toBe(isIn);
    // What SQL finds must have all that is found here.
    const like = new RegExp(search.pattern.replaceAll('%', '[^]*'));
    if (isIn) expect(text.toLowerCase()).toMatch(like);
  });

  test.each(['%', '_', "'; drop table apps_records; --@x", '%@%', 'a\\@b'])(
    'the pattern of %j has no wildcard of its own',
    (text) => {
      expect(searchOf(text).pattern).toMatch(/^%(?:[a-z0-9]+%)*$|^%%$/);
    },
  );

  test('values are compared as unique elements are', () => {
    expect(searchOf('Anna @Example.org').isSame(' anna@EXAMPLE.org')).toBe(true);
    expect(searchOf('anna@example.org').isSame(5)).toBe(false);
  });
});

test.each(['', '  ', '@', 'a@', '@b', 'a\nb@c.example', `${'a'.repeat(400)}@b.example`])('%j names no one', (given) => {
  expect(() => readWho(given)).toThrow('Name an e-mail address');
});
