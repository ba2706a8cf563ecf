import { expect, test } from 'vitest';
import { findSlow } from './grow';

/** Takes time in proportion to the square of the text's length. */
function quadratic(text: string): number {
  let sum = 0;
  for (let end = 0; end < text.length; end += 1) for (let at = 0; at < end; at += 64) sum += text.charCodeAt(at);
  return sum;
}

test('the search finds quadratic functions only', () => {
  const subject = { name: 'example', pieces: ['a', 'b', '('], maxSize: 256 * 1024 };
  expect(findSlow({ ...subject, work: quadratic }, 1, 3).length).toBe(3);
  expect(findSlow({ ...subject, work: (text) => text.split('a').length }, 1, 10)).toEqual([]);
});
