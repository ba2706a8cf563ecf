import { expect, test } from 'vitest';
import type { AppsError } from '../../common/errors';
import { programOf } from '../testing/harness';
import { createCircuitBreakers, PausedError } from './circuit-breaker';

const program = programOf('function f() {}');

function at(isolates: number) {
  let time = 1000;
  const breakers = createCircuitBreakers(isolates, () => time);
  const paused = () => {
    try {
      breakers.check(program);
      return null;
    } catch (error) {
      return error as AppsError;
    }
  };
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { breakers, paused, pass };
}

test('a breaker opens at a quarter of the time of all isolates', () => {
  const { breakers, paused } = at(8);
  for (let failure = 0; failure < 9; failure += 1) breakers.recordFailure(program, 2000);
  expect(paused()).toBeNull();
  breakers.recordFailure(program, 2000);
  expect(paused()).toMatchObject({ name: 'LogicError', headers: { 'Retry-After': '30' } });
  expect(paused()).toBeInstanceOf(PausedError);
  expect(breakers.open()).toEqual([{ scope: 'site/theme/app', path: 'blocks/test.js', seconds: 30 }]);
});

test('a breaker closes by itself, and then counts from zero', () => {
  const { breakers, paused, pass } = at(1);
  breakers.recordFailure(program, 2500);
  pass(29_999);
  expect(paused()?.headers['Retry-After']).toBe('1');
  pass(1);
  expect(paused()).toBeNull();
  expect(breakers.open()).toEqual([]);
  breakers.recordFailure(program, 2400);
  expect(paused()).toBeNull();
});

test('rare failures, and those of other programs, do not open it', () => {
  const { breakers, paused, pass } = at(1);
  for (let failure = 0; failure < 20; failure += 1) {
    breakers.recordFailure(program, 2000);
    pass(10_000);
  }
  breakers.recordFailure(programOf('function g() {}'), 9000);
  expect(paused()).toBeNull();
});
