import { expect, test } from 'vitest';
import type { AppsError } from '../../errors';
import { programOf } from '../testing/harness';
import { createPauses, isPaused } from './pauses';

const program = programOf('function f() {}');

function at(places: number) {
  let time = 1000;
  const pauses = createPauses(places, () => time);
  const paused = () => {
    try {
      pauses.check(program);
      return null;
    } catch (error) {
      return error as AppsError;
    }
  };
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { pauses, paused, pass };
}

test('a quarter of the time of all isolates is too much', () => {
  const { pauses, paused } = at(8);
  for (let failure = 0; failure < 9; failure += 1) pauses.burnt(program, 2000);
  expect(paused()).toBeNull();
  pauses.burnt(program, 2000);
  expect(paused()).toMatchObject({ name: 'LogicError', headers: { 'Retry-After': '30' } });
  expect(isPaused(paused())).toBe(true);
  expect(pauses.list()).toEqual([{ scope: 'site/theme/app', path: 'blocks/test.js', seconds: 30 }]);
});

test('it ends by itself, and begins anew', () => {
  const { pauses, paused, pass } = at(1);
  pauses.burnt(program, 2500);
  pass(29_999);
  expect(paused()?.headers['Retry-After']).toBe('1');
  pass(1);
  expect(paused()).toBeNull();
  expect(pauses.list()).toEqual([]);
  pauses.burnt(program, 2400);
  expect(paused()).toBeNull();
});

test('failures now and then, and those of others, do not count', () => {
  const { pauses, paused, pass } = at(1);
  for (let failure = 0; failure < 20; failure += 1) {
    pauses.burnt(program, 2000);
    pass(10_000);
  }
  pauses.burnt(programOf('function g() {}'), 9000);
  expect(paused()).toBeNull();
});
