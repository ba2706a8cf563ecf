import { describe, expect, test } from 'vitest';
import { decodeBasic, splits } from './passwords';

const encode = (text: string): string => Buffer.from(text).toString('base64');

describe('Basic credentials', () => {
  test.each([
    ['joined by a dot', 'eric.secret', ['eric|secret']],
    ['joined by a colon', 'eric:secret', ['eric|secret']],
    ['with separators in both parts, longest name first', 'a.b:c.d', ['a.b:c|d', 'a.b|c.d', 'a|b:c.d']],
    ['an e-mail', 'eric@example.com:pw', ['eric@example.com|pw', 'eric@example|com:pw']],
    ['beginning with a separator', '.eric:pw', ['.eric|pw']],
    ['ending with one', 'eric:', []],
    ['with one at each end', ':eric:', []],
    ['two separators side by side', 'eric::', ['eric|:']],
    ['without a separator', 'eric', []],
    ['empty', '', []],
  ])('%s', (_name, text, expected) => {
    expect(splits(text).map(({ identifier, password }) => `${identifier}|${password}`)).toEqual(expected);
  });

  test.each([
    ['text', encode('eric.secret'), 'eric.secret'],
    ['UTF-8', encode('zoë:pässwörd'), 'zoë:pässwörd'],
    ['not Base64', 'er*c', null],
    ['not UTF-8', Buffer.from([0x65, 0xff, 0x2e, 0x61]).toString('base64'), null],
    ['a NUL', encode('eric:a\0b'), null],
    ['too long', encode(`eric:${'x'.repeat(1020)}`), null],
    ['of the greatest length', encode(`eric:${'x'.repeat(1019)}`), `eric:${'x'.repeat(1019)}`],
    ['empty', '', null],
  ])('decodes %s', (_name, encoded, expected) => {
    expect(decodeBasic(encoded)).toBe(expected);
  });
});
