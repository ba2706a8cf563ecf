import { expect, test } from 'vitest';
import { partOf } from '../response/sent-file';

const size = 1_000;

test.each([
  ['bytes=0-99', '206 0-99'],
  ['bytes=500-', '206 500-999'],
  ['bytes=999-5000', '206 999-999'],
  ['bytes=-1', '206 999-999'],
  ['bytes=-1000', '206 0-999'],
  ['bytes=-5000', '206 0-999'],
  ['bytes=-99999999999999999999999', '206 0-999'],
  ['Bytes= 5-6 ', '206 5-6'],
  ['bytes=5-5', '206 5-5'],
  ['bytes=1000-', '416'],
  ['bytes=99999999999999999999999-', '416'],
  ['bytes=-0', '416'],
  ['bytes=5-2', '200'],
  ['bytes=2000-1000', '200'],
  ['bytes=0-1,4-5', '200'],
  ['bytes=-', '200'],
  ['bytes=a-b', '200'],
  ['bytes=1.5-2', '200'],
  ['bytes=--5', '200'],
  ['bytes', '200'],
  ['lines=1-2', '200'],
  ['', '200'],
])('%j of 1,000 bytes is %s', (range, expected) => {
  const { status, start, end } = partOf(range, size);
  expect(status === 206 ? `206 ${start}-${end}` : String(status)).toBe(expected);
  if (status === 200) expect([start, end]).toEqual([0, size - 1]);
});

test.each([
  ['bytes=0-', 416],
  ['bytes=-5', 416],
  ['', 200],
])('%j of an empty file is %i', (range, status) => {
  expect(partOf(range, 0).status).toBe(status);
});
