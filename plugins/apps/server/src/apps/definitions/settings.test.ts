import { describe, expect, test } from 'vitest';
import { errorText } from '../../common/errors';
import { readSettings } from './settings';
import { failure, file, many } from './testing/definitions';
import { readThemeInfo } from './theme';

describe('readSettings', () => {
  test.each([
    ['', { debug: false, withTheme: false, acl: null, source: {} }],
    ['with_theme: true', { withTheme: true }],
    ['debug: true', { debug: true, acl: null, source: { debug: true } }],
    [
      "acl: {rights: {reader: ['*'], author: }, roles: {boss: [eric], none: }}",
      {
        acl: { rights: { reader: ['*'], author: [], editor: [], submitter: [] }, roles: { boss: ['eric'], none: [] } },
      },
    ],
  ])('reads %j', (text, expected) => {
    expect(readSettings(file(text, 'settings.yaml'))).toMatchObject(expected);
  });

  test.each<[string, RegExp]>([
    ['debug: 1', /^settings.yaml:1:8: debug: This must be true or false, not the number 1$/],
    ['acl: {rights: {readers: []}}', /did you mean "reader"/],
    ['acl: {rights: {reader: eric}}', /such as \["eric"\]/],
    ['acl: {roles: {"": []}}', /cannot be the name of a role/],
    ['acl: [x]', /must be a mapping/],
    ['title: x', /"title" is not known.*Allowed: acl, debug/],
  ])('refuses %j', (text, message) => {
    expect(errorText(failure(() => readSettings(file(text, 'settings.yaml'))))).toMatch(message);
  });

  test('bounds the names of all lists together', () => {
    const lists = `a: &n [${many(900, (n) => `u${n}`)}], ${many(11, (n) => `r${n}: *n`)}`;
    expect(errorText(failure(() => readSettings(file(`acl: {roles: {${lists}}}`, 'settings.yaml'))))).toBe(
      'settings.yaml:1:6: acl: The lists hold more than 10000 names together',
    );
  });
});

test('readThemeInfo reads a theme.yaml', () => {
  expect(readThemeInfo(file('title: Basic'))).toEqual({ title: 'Basic' });
  expect(readThemeInfo(file(''))).toEqual({});
  expect(failure(() => readThemeInfo(file('titel: x'))).message).toMatch(/did you mean "title"/);
});
