import { expect, test } from 'vitest';
import { AppsError } from '../../errors';
import { crowdedError, lossesAfter, lostError, MAX_LOSSES } from './fleet';

test.each([
  ['whose runner was lost, runs again beside others', lostError(), 0, 1],
  ['whose runner was lost again, runs alone', lostError(), MAX_LOSSES - 1, MAX_LOSSES],
  ['whose own runner was lost, is over', lostError(), MAX_LOSSES, null],
  ['that filled its runner, runs alone at once', crowdedError(), 0, MAX_LOSSES],
  ['that filled its own runner, is over', crowdedError(), MAX_LOSSES, null],
  ['that has failed by itself, is over', new AppsError('ServiceUnavailableError', 'The sandbox has failed'), 0, null],
  ['that has thrown, is over', new Error('thrown'), 0, null],
])('a request %s', (_, error, losses, after) => {
  expect(lossesAfter(error, losses)).toBe(after);
});
