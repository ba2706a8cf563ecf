import { expect, test } from 'vitest';
import { AppsError, type SourcePosition } from '../errors';
import { failureMark, placedMessage } from './error-mark';

const position = { file: 'blocks/a.js', line: 3 };

test.each<[string, SourcePosition | undefined, string]>([
  ['TypeError: no (blocks/a.js:3)', position, 'TypeError: no (blocks/a.js:3)'],
  ['too slow', position, 'blocks/a.js:3: too slow'],
  ['too slow', { file: 'blocks/a.js' }, 'blocks/a.js: too slow'],
  ['too slow', undefined, 'too slow'],
])('%j at %j names its place once', (message, at, placed) => {
  expect(placedMessage(new AppsError('LogicError', message, { position: at }))).toBe(placed);
});

test.each([
  [new AppsError('LogicError', '<b>', { position }), true, ': blocks/a.js:3: &lt;b&gt;'],
  [new AppsError('LogicError', '<b>', { position }), false, ''],
  [new Error('a path of the machine'), true, ''],
])('the mark of %s, explained: %j', (error, explained, details) => {
  expect(failureMark(error, explained)).toBe(
    `<span class="apps-error" role="alert">This part could not be shown${details}</span>`,
  );
});
