import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { recordWork, SLICE, untilLoopIsFreeFor } from '../../common/time/pace';
import type { HostUse, SharedBudget } from '../types';

/**
 * Milliseconds after which another call may begin although the one before it has not ended: it may wait for a database, for
 * logic that it runs, or for the next call itself, which has a transaction open.
 */
const MAX_HOLD = 100;

/** Milliseconds that a call waits longer for others, for each one that it and its request take of the main thread. */
const HANDICAP = 5;

/** A host call: the program that makes it, and its request. */
export interface PacedCall {
  program: object;
  name: string;
  shared: SharedBudget;
}

interface Waiter {
  shared: SharedBudget;
  /** The time by which it is ordered. */
  due: number;
  /** Lets the call begin; it calls `release` at its end. */
  begin(release: () => void): void;
}

/** Milliseconds for which the main thread has worked, not those in which it has waited for events. */
const worked = (): number => performance.eventLoopUtilization().active;

export const newUse = (): HostUse => ({ time: 0, slice: 0, mustWait: false });

/**
 * Bounds what host calls take of the main thread. Each is measured: the time for which the thread works during the call, divided
 * by the calls that run at the same time. A request that has used a slice of it waits before its next call, and so does a call
 * that has been longer than a slice for its program; others do not wait. Of those that wait one begins at a time, with a pause
 * after the work of the one before (`common/time/pace.ts`), the one that has used least first.
 */
export class HostPace {
  /** Milliseconds of each running call. */
  private readonly running = new Set<{ time: number; shared: SharedBudget }>();
  /** The time of `worked` that is shared out. */
  private counted = worked();
  private readonly waiting = new Set<Waiter>();
  /** The request whose call others wait for. */
  private holder: SharedBudget | null = null;
  private release: (() => void) | null = null;
  private isStarting = false;
  /** Milliseconds that the last calls of a program took, by the name of the host function. */
  private readonly expected = new WeakMap<object, Map<string, number>>();

  /** Runs a host call, after a wait where it must wait, and adds its time to `shared.host`. */
  async run<T>(call: PacedCall, work: () => Promise<T>): Promise<T> {
    const release = this.mustWait(call) ? await this.admitted(call) : null;
    const own = { time: 0, shared: call.shared };
    this.share();
    this.running.add(own);
    try {
      return await work();
    } finally {
      this.share();
      this.running.delete(own);
      this.charge(call, own.time);
      release?.();
    }
  }

  /**
   * Runs work that does not use this process, such as a call of another host: the calls of the request that wait for it take
   * nothing of the thread meanwhile.
   */
  async away<T>(shared: SharedBudget, work: () => Promise<T>): Promise<T> {
    this.share();
    const calls = [...this.running].filter((call) => call.shared === shared);
    for (const call of calls) this.running.delete(call);
    if (this.holder === shared) this.release?.();
    try {
      return await work();
    } finally {
      this.share();
      for (const call of calls) this.running.add(call);
    }
  }

  private expectedTime({ program, name }: PacedCall): number {
    return this.expected.get(program)?.get(name) ?? 0;
  }

  private mustWait(call: PacedCall): boolean {
    return call.shared.host.mustWait || this.expectedTime(call) > SLICE;
  }

  /**
   * A request that has changed content only yields to others once: in a longer wait its transaction would be rolled back, and
   * its changes made once more (docs/decisions/short-transactions.md).
   */
  private async admitted(call: PacedCall): Promise<(() => void) | null> {
    const { host, changesContent } = call.shared;
    if (!changesContent) return this.turn(call);
    host.mustWait = false;
    await setImmediate();
    return null;
  }

  /** Gives each running call its part of the time since the last call of this. */
  private share(): void {
    const now = worked();
    const part = (now - this.counted) / Math.max(1, this.running.size);
    for (const one of this.running) one.time += part;
    this.counted = now;
  }

  private charge({ program, name, shared: { host } }: PacedCall, time: number): void {
    host.time += time;
    host.slice += time;
    if (host.slice > SLICE) {
      recordWork(host.slice);
      host.slice = 0;
      host.mustWait = true;
    }
    const times = this.expected.get(program) ?? new Map<string, number>();
    this.expected.set(program, times);
    times.set(name, ((times.get(name) ?? time) + time) / 2);
  }

  /** Resolves when the call may begin; what it resolves to must be called at the end of the call. */
  private turn(call: PacedCall): Promise<() => void> {
    const { shared } = call;
    const due = performance.now() + HANDICAP * (this.expectedTime(call) + shared.host.time);
    return new Promise((begin) => {
      this.waiting.add({ shared, due, begin });
      // A call inside of another one of its request: that one waits for it.
      if (this.holder === shared) this.release?.();
      void this.next();
    });
  }

  private async next(): Promise<void> {
    if (this.isStarting || this.release || this.waiting.size === 0) return;
    this.isStarting = true;
    // Which request's code runs here says nothing about the one that continues.
    await untilLoopIsFreeFor(SLICE);
    this.isStarting = false;
    const first = [...this.waiting].reduce((one, other) => (other.due < one.due ? other : one));
    this.waiting.delete(first);
    const release = () => {
      if (this.release !== release) return;
      clearTimeout(timer);
      this.release = null;
      this.holder = null;
      void this.next();
    };
    const timer = setTimeout(release, MAX_HOLD);
    this.release = release;
    this.holder = first.shared;
    first.shared.host.mustWait = false;
    first.begin(release);
  }
}
