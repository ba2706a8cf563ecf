import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AppsError } from '../../common/errors';
import type { MessageReceiver, Messages } from '../../processes/types';
import { programOf } from '../testing/harness';
import { type CircuitBreakerOptions, createCircuitBreakers, PausedError } from './circuit-breaker';

const program = programOf('function f() {}');

/** A process with so many isolates; `messages` are those between it and others. */
function at(maxIsolates: number, messages: CircuitBreakerOptions['messages'] = null) {
  let time = 1000;
  const breakers = createCircuitBreakers({ maxIsolates, messages, report: () => {}, now: () => time });
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

test('a breaker opens at a quarter of the time of all isolates', async () => {
  const { breakers, paused } = at(8);
  for (let failure = 0; failure < 9; failure += 1) breakers.recordFailure(program, 2000);
  expect(paused()).toBeNull();
  breakers.recordFailure(program, 2000);
  expect(paused()).toMatchObject({ name: 'LogicError', headers: { 'Retry-After': '30' } });
  expect(paused()).toBeInstanceOf(PausedError);
  expect(await breakers.open()).toEqual([{ scope: 'site/theme/app', path: 'blocks/test.js', seconds: 30 }]);
});

test('a breaker closes by itself, and then counts from zero', async () => {
  const { breakers, paused, pass } = at(1);
  breakers.recordFailure(program, 2500);
  pass(29_999);
  expect(paused()?.headers['Retry-After']).toBe('1');
  pass(1);
  expect(paused()).toBeNull();
  expect(await breakers.open()).toEqual([]);
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

describe('between processes', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** Two processes, each of which gets the messages of the other. */
  function pair() {
    const receivers: MessageReceiver[] = [];
    const messagesOf = (n: number) => ({
      subscribe(receiver: MessageReceiver) {
        receivers[n] = receiver;
      },
      listen: () => ({ ready: Promise.resolve(), stop: () => {} }),
      write: vi.fn(async (message: Parameters<Messages['write']>[0]) => {
        receivers[1 - n]?.receive({ ...message, origin: `process ${n}` }, false);
      }),
    });
    const [one, two] = [messagesOf(0), messagesOf(1)];
    return { one: at(1, one), two: at(8, two), write: one.write, answers: two.write };
  }

  test('a pause of one holds in the other, for the time that is left, and is reported once', async () => {
    const { one, two, write, answers } = pair();
    one.breakers.recordFailure(program, 2500);
    expect(two.paused()).toMatchObject({ name: 'LogicError', headers: { 'Retry-After': '30' } });
    expect(await two.breakers.open()).toEqual([{ scope: 'site/theme/app', path: 'blocks/test.js', seconds: 30 }]);
    two.pass(30_000);
    expect(two.paused()).toBeNull();
    expect([write, answers].map((each) => each.mock.calls.length)).toEqual([1, 0]);
  });

  test('a message that comes late pauses for less, one that comes after the pause not at all', () => {
    const { one, two, write } = pair();
    one.breakers.recordFailure(program, 2500);
    const [[message]] = write.mock.calls as [[Parameters<Messages['write']>[0]]];
    two.pass(30_000);
    vi.setSystemTime(Date.now() + 20_000);
    write(message);
    expect(two.paused()?.headers['Retry-After']).toBe('10');
    two.pass(30_000);
    vi.setSystemTime(Date.now() + 10_000);
    write(message);
    expect(two.paused()).toBeNull();
  });

  test('failures are those of each process', () => {
    const { one, two } = pair();
    one.breakers.recordFailure(program, 2400);
    two.breakers.recordFailure(program, 2400);
    expect([one.paused(), two.paused()]).toEqual([null, null]);
  });

  test('messages of another version say nothing of pauses', () => {
    const { two, write } = pair();
    write({ at: 0, tokens: ['a'], said: { apps: {} } });
    expect(two.paused()).toBeNull();
  });
});
