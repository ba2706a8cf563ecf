import { expect, test } from 'vitest';
import { recordIdProblem } from './record-id';

test.each([
  ['a', null],
  ['/tutorial/news ', null],
  ['😀'.repeat(255), null],
  ['', 'it is empty'],
  ['a'.repeat(256), 'it is longer than 255 characters'],
  ['😀'.repeat(256), 'it is longer than 255 characters'],
  ['a\nb', 'it contains a control character'],
  ['a\u0085', 'it contains a control character'],
  ['\ud800', 'it is not well-formed Unicode'],
  ['\udc00\ud800', 'it is not well-formed Unicode'],
])('the id %.20j: %s', (id, reason) => {
  expect(recordIdProblem(id)?.reason ?? null).toBe(reason);
});
