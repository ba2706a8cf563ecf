import { expect, test } from 'vitest';
import { recordIdProblem } from './record-id';

const cases: [id: string, reason: string | null][] = [
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
];

test.each(cases.map(([id, reason]) => [[...JSON.stringify(id)].slice(0, 20).join(''), reason, id] as const))(
  'the id %s has the problem %j',
  (_shown, reason, id) => {
    expect(recordIdProblem(id)?.reason ?? null).toBe(reason);
  },
);
