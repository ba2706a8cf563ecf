import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SLICE, untilLoopIsFree } from '../../common/time/pace';
import type { SharedBudget } from '../types';
import { HostPace, newUse } from './host-answers';

/** Blocks the event loop. */
function busy(time: number): void {
  const end = performance.now() + time;
  while (performance.now() < end);
}

const request = (changesContent = false): SharedBudget => ({ host: newUse(), changesContent }) as SharedBudget;
const program = () => ({});

/** A host call that works for as many milliseconds. */
const call = (pace: HostPace, shared: SharedBudget, time: number, by: object = program(), name = 'documents') =>
  pace.run({ program: by, name, shared }, async () => busy(time));

const long = SLICE * 2;

describe('the time of host calls', () => {
  test('is that of the main thread, not that of waiting', async () => {
    const shared = request();
    await new HostPace().run({ program: program(), name: 'count', shared }, async () => {
      busy(5);
      await pause(200);
      busy(5);
    });
    expect(shared.host.time).toBeGreaterThanOrEqual(9);
    expect(shared.host.time).toBeLessThan(150);
  });

  test('is divided between those that run at the same time, and those inside of others', async () => {
    const pace = new HostPace();
    const [outer, inner] = [request(), request()];
    await pace.run({ program: program(), name: 'display', shared: outer }, async () => {
      busy(4);
      await pace.run({ program: program(), name: 'documents', shared: inner }, async () => busy(40));
    });
    expect(inner.host.time).toBeLessThan(outer.host.time);
    expect(inner.host.time).toBeGreaterThan(15);
    expect(inner.host.time + outer.host.time).toBeGreaterThanOrEqual(43);
  });

  test('is bounded for one call: the rest is that of others, for which it has waited', async () => {
    const shared = request();
    await new HostPace().run({ program: program(), name: 'count', shared }, async () => {
      const end = performance.now() + 800;
      while (performance.now() < end) await pause(1).then(() => busy(20));
    });
    expect(shared.host.time).toBe(500);
  });

  test('counts when the call fails', async () => {
    const shared = request();
    const failing = new HostPace().run({ program: program(), name: 'documents', shared }, async () => {
      busy(5);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(shared.host.time).toBeGreaterThanOrEqual(4);
  });
});

describe('a call waits', () => {
  /** Milliseconds that a call of no work takes. */
  async function wait(pace: HostPace, shared: SharedBudget, by: object = program(), name?: string): Promise<number> {
    const begin = performance.now();
    await call(pace, shared, 0, by, name);
    return performance.now() - begin;
  }

  test('after a slice of its request', async () => {
    const pace = new HostPace();
    const shared = request();
    await call(pace, shared, long * 2);
    expect(await wait(pace, shared)).toBeGreaterThan(long * 0.8);
    expect(await wait(pace, shared)).toBeLessThan(long * 0.8);
  });

  test('after a long one of its program, but not one of another name or program', async () => {
    const pace = new HostPace();
    const by = program();
    await call(pace, request(), long * 3, by);
    expect(await wait(pace, request())).toBeLessThan(long * 0.8);
    expect(await wait(pace, request(), by, 'count')).toBeLessThan(long * 0.8);
    expect(await wait(pace, request(), by)).toBeGreaterThan(SLICE / 2);
  });

  test('for a moment when its request has changed content', async () => {
    const pace = new HostPace();
    const shared = request(true);
    await call(pace, shared, long * 4);
    let others = 0;
    setImmediate(() => (others += 1));
    expect(await wait(pace, shared)).toBeLessThan(long * 0.8);
    expect(others).toBe(1);
    await untilLoopIsFree();
  });
});

describe('of calls that wait', () => {
  /** A request that has to wait, after `used` ms. */
  const heavy = (used = 0): SharedBudget => ({ ...request(), host: { time: used, slice: 0, mustWait: true } });

  test('one begins after the end of the other', async () => {
    const pace = new HostPace();
    let [running, most] = [0, 0];
    const one = () =>
      pace.run({ program: program(), name: 'documents', shared: heavy() }, async () => {
        running += 1;
        most = Math.max(most, running);
        await pause(5);
        busy(5);
        running -= 1;
      });
    await Promise.all([one(), one(), one(), one()]);
    expect(most).toBe(1);
  });

  test('that of the request which has used least begins first', async () => {
    const pace = new HostPace();
    const order: number[] = [];
    const used = [500, 300, 0, 100];
    await Promise.all(
      used.map((time) =>
        pace.run({ program: program(), name: 'documents', shared: heavy(time) }, async () => {
          order.push(time);
          busy(1);
        }),
      ),
    );
    expect(order).toEqual([0, 100, 300, 500]);
  });

  test('one inside of another one of its request does not wait for it', async () => {
    const pace = new HostPace();
    const shared = heavy();
    const begin = performance.now();
    await pace.run({ program: program(), name: 'display', shared }, async () => {
      shared.host.mustWait = true;
      await call(pace, shared, 1);
    });
    expect(performance.now() - begin).toBeLessThan(60);
  });

  test('one that waits for something else does not hold up the others for long', async () => {
    const pace = new HostPace();
    const begin = performance.now();
    const stuck = pace.run({ program: program(), name: 'search', shared: heavy() }, () => pause(1_000));
    await call(pace, heavy(), 1);
    expect(performance.now() - begin).toBeLessThan(700);
    await stuck;
    await call(pace, heavy(), 1);
  });
});
