import { expect, test } from 'vitest';
import { fileNameProblem } from './addresses';

test.each([
  ['con', /Windows keeps for a device/],
  ['CON', /device/],
  ['nul.yaml', /device/],
  ['aux.d.ts', /device/],
  ['prn .txt', /device/],
  ['com1', /device/],
  ['LPT9.html', /device/],
  ['com²', /device/],
  ['conin$', /device/],
  ['a.', /ends with a dot or a space/],
  ['a ', /ends with a dot or a space/],
  ['a:b', /character/],
  ['a?', /character/],
  ['a\\b', /character/],
  ['a\u0007', /character/],
  ['\ud800', /character/],
  ['x'.repeat(201), /longer than 200 bytes/],
  ['é'.repeat(101), /longer than 200 bytes/],
])('%j cannot be made everywhere', (name, problem) => {
  expect(fileNameProblem(name)).toMatch(problem);
});

test.each([
  'console',
  'control',
  'null',
  'auxiliary',
  'com',
  'com10',
  'lpt',
  'a.con',
  'a b',
  '.hidden',
  'x'.repeat(200),
])('%j can be made', (name) => {
  expect(fileNameProblem(name)).toBeNull();
});
