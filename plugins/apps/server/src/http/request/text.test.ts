import { describe, expect, test } from 'vitest';
import { checkEncoded, checkUtf8 } from './text';

/** The position in the error of a check; undefined without an error. */
function complaint(check: () => void): unknown {
  try {
    check();
    return undefined;
  } catch (error) {
    return (error as { details: { position: number } }).details.position;
  }
}

describe('UTF-8', () => {
  test.each<[string, number | undefined]>([
    ['', undefined],
    ['c3a9f09f8d8eefbfbd', undefined],
    ['61ff', 1],
    ['efbfbdff', 3],
    ['61c3', 1],
    ['c3a9c328', 2],
    ['eda080', 0],
    ['c080', 0],
    ['61f4908080', 1],
    ['61efbf', 1],
  ])('%s', (hex, position) => {
    expect(complaint(() => checkUtf8(Buffer.from(hex, 'hex'), 'It'))).toBe(position);
  });

  test.each<[string, number | undefined]>([
    ['a=1&b=%C3%A9+%F0%9F%8D%8E', undefined],
    ['100%', undefined],
    ['%ZZ%4', undefined],
    ['a=%FF', 2],
    ['a=%c3%a9%c3', 2],
    ['a=%C3&b=%A9', 2],
    ['%C3%28', 0],
  ])('%s', (text, position) => {
    expect(complaint(() => checkEncoded(text, 'It'))).toBe(position);
  });
});
