import { expect, test } from 'vitest';
import { AppsError } from '../../errors';
import { failureMark } from './error-mark';

const position = { file: 'blocks/a.js', line: 3 };

test.each([
  [new AppsError('LogicError', '<b>', { position }), true, ': blocks/a.js:3: &lt;b&gt;'],
  [new AppsError('LogicError', '<b>', { position }), false, ''],
  [new Error('a path of the machine'), true, ''],
])('failureMark of %s, explained: %j', (error, explained, details) => {
  expect(failureMark(error, explained)).toBe(
    `<span class="apps-error" role="alert">This part could not be shown${details}</span>`,
  );
});
