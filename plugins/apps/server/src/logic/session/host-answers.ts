import { setImmediate } from 'node:timers/promises';
import type { HostAnswer, HostCalls, WireProgram } from '../../../../shared/logic-protocol';
import { AppsError, logicError } from '../../common/errors';
import { RequestSet } from '../../common/request-objects';
import { spanned, withinSpan } from '../../common/spans';
import { recordWork, SLICE, untilLoopIsFreeFor } from '../../common/time/pace';
import { processClock } from '../../common/time/process-clock';
import type { Limits } from '../../config.types';
import type { Caller } from '../host-functions/row';
import { callHost } from '../host-functions/table';
import type { ContextData, HostUse, LogicBudget, LogicHost, SharedBudget } from '../types';
import { entryOf, messageSize, topFrame } from './outcome';

/**
 * Milliseconds after which another call may begin although the one before it has not ended: it may wait for a database, for
 * logic that it runs, or for the next call itself, which has a transaction open.
 */
const MAX_HOLD = 100;

/** Milliseconds that a call waits longer for others, for each one that it and its request take of the main thread. */
const HANDICAP = 5;

/**
 * Milliseconds that one call is charged at most. What a call may do takes less (docs/decisions/bounds.md): one that is charged more has
 * waited, for instance for a database that fails over, and others have worked meanwhile.
 */
const MAX_CHARGE = 500;

/** A host call: the program that makes it, and its request. */
interface PacedCall {
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

/** A host call that runs. */
interface RunningCall {
  /** Milliseconds of the thread that it has taken. */
  time: number;
  shared: SharedBudget;
  /** Whether it waits for work that does not use this process. */
  isAway: boolean;
}

export const newUse = (): HostUse => ({ time: 0, slice: 0, mustWait: false });

/**
 * Bounds what host calls take of the main thread. Each is measured: the time for which the thread works during the call, divided
 * by the calls that run at the same time, up to a maximum. A request that has used a slice of it waits before its next call, and so does a call
 * that has been longer than a slice for its program; others do not wait. Of those that wait one begins at a time, with a pause
 * after the work of the one before (`common/time/pace.ts`), the one that has used least first.
 */
export class HostPace {
  private readonly running = new RequestSet<RunningCall>();
  /** The milliseconds of the main thread's work that are shared out. */
  private counted = processClock.worked();
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
    const own: RunningCall = { time: 0, shared: call.shared, isAway: false };
    this.share();
    const entry = this.running.add(own);
    try {
      return await work();
    } finally {
      this.share();
      this.running.delete(entry);
      this.charge(call, Math.min(own.time, MAX_CHARGE));
      release?.();
    }
  }

  /**
   * Runs work that does not use this process, such as a call of another host: the calls of the request that wait for it take
   * nothing of the thread meanwhile.
   */
  async away<T>(shared: SharedBudget, work: () => Promise<T>): Promise<T> {
    this.share();
    const calls = this.running.values().filter((call) => call.shared === shared && !call.isAway);
    for (const call of calls) call.isAway = true;
    if (this.holder === shared) this.release?.();
    try {
      return await work();
    } finally {
      this.share();
      for (const call of calls) call.isAway = false;
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
    const now = processClock.worked();
    const here = this.running.values().filter(({ isAway }) => !isAway);
    for (const one of here) one.time += (now - this.counted) / here.length;
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

export interface HostAnswersOptions {
  program: WireProgram;
  context: ContextData;
  host: LogicHost;
  pace: HostPace;
  budget: LogicBudget;
  limits: Limits;
  /** Receives errors of the host that are not AppsErrors, so that their causes are not lost. */
  reportHostError(name: string, error: unknown): void;
}

/** Characters of all arguments of a request's host calls, as a multiple of the limit of one message. */
const MAX_ARGUMENT_FACTOR = 8;

/** Makes the host calls of one session. */
export class HostAnswers {
  /** The errors of calls, by the numbers that the sandbox uses for them. */
  readonly errors: AppsError[] = [];
  /** Name of the running host call. */
  current: string | null = null;

  /** Calls come from the runner: they belong to the run that has opened the session. */
  private readonly within = withinSpan();

  constructor(private readonly options: HostAnswersOptions) {}

  /** Counts the calls; returns the error that ends the session when a request makes too many. */
  refusal(calls: HostCalls): AppsError | null {
    const { budget, limits } = this.options;
    budget.shared.hostCalls += calls.length;
    if (budget.shared.hostCalls <= limits.hostCalls) return null;
    return this.over(`made more than ${limits.hostCalls} host calls`);
  }

  /**
   * Counts the characters of one message of calls, before it is parsed; returns the error that ends the session when a
   * request has sent too many.
   */
  sizeRefusal(size: number): AppsError | null {
    const { budget, limits } = this.options;
    const maxSize = messageSize(limits) * MAX_ARGUMENT_FACTOR;
    budget.shared.argumentSize += size;
    return budget.shared.argumentSize <= maxSize
      ? null
      : this.over(`made host calls with more than ${maxSize} characters`);
  }

  /** The error that ends the session when the calls of a request have taken too much of the main thread. */
  timeRefusal(): AppsError | null {
    const { budget, limits } = this.options;
    if (budget.shared.host.time <= limits.hostTime) return null;
    return this.over(`made host calls that took more than ${limits.hostTime} ms of the server's time`);
  }

  private over(what: string): AppsError {
    return logicError(`The logic of this request ${what}`, { file: entryOf(this.options.program) });
  }

  /**
   * Makes the calls in order, until one fails, and returns the answer's JSON text (`HostAnswer`). Answers that together
   * would fill the sandbox's memory, or are not JSON, become an error. Stops when the session is over or has a
   * `timeRefusal`, because one message may hold a thousand calls: the answer is then ''.
   */
  async text(calls: HostCalls, isOver: () => boolean): Promise<string> {
    const limit = (this.options.limits.logicMemory * 1024 * 1024) / 4;
    const caller = this.caller();
    const values: string[] = [];
    let error = '';
    let size = 0;
    for (const [name, args] of calls) {
      this.current = name;
      try {
        const make = async () => (isOver() ? '' : callHost(this.options.host, caller, name, args));
        const about = () => ({ function: name, app: caller.app });
        const value = await this.within(() => spanned('host call', about, () => this.paced(name, make)));
        if (value === '' || this.timeRefusal()) return '';
        size += value.length;
        if (size > limit) throw tooLarge(name, limit);
        values.push(value);
      } catch (cause) {
        error = `,"error":${JSON.stringify(this.errorOf(name, cause))}`;
        break;
      }
    }
    this.current = null;
    return `{"values":[${values.join(',')}]${error}}`;
  }

  /** The answer to refused calls. */
  refused(message: string): string {
    this.options.budget.shared.hostCalls += 1;
    const error = this.errorOf('', new AppsError('BadRequestError', message));
    return JSON.stringify({ values: [], error } satisfies HostAnswer);
  }

  private paced(name: string, work: () => Promise<string>): Promise<string> {
    const { pace, program, budget } = this.options;
    return pace.run({ program, name, shared: budget.shared }, work);
  }

  private caller(): Caller {
    const { context, program, budget, limits } = this.options;
    return {
      app: context.app.id,
      block: context.block?.id ?? null,
      logEntrySize: limits.logEntrySize,
      lineOf: (stack) => topFrame(stack, program)?.line ?? null,
      countLog() {
        budget.shared.logEntries += 1;
        if (budget.shared.logEntries <= limits.logEntries) return;
        throw logicError(`More than ${limits.logEntries} log entries`, { file: entryOf(program) });
      },
    };
  }

  private errorOf(name: string, error: unknown): NonNullable<HostAnswer['error']> {
    let known = error;
    if (!(known instanceof AppsError)) {
      this.options.reportHostError(name, error);
      known = new AppsError('InternalServerError', 'The server could not do this', { cause: error });
    }
    const { name: errorName, message } = known as AppsError;
    return { name: errorName, message, host: this.errors.push(known as AppsError) - 1 };
  }
}

function tooLarge(name: string, limit: number): AppsError {
  return new AppsError('PayloadTooLargeError', `${name}: the answer is larger than ${limit} characters`);
}
