import { setImmediate } from 'node:timers/promises';
import type { HostAnswer, HostCalls } from '../../../sandbox/src/prelude/types';
import type { WireProgram } from '../../../sandbox/src/protocol';
import type { Limits } from '../config.types';
import { AppsError } from '../errors';
import { logicError } from './compile';
import { callHost, type HostRun } from './host-functions';
import { entryOf, locate, messageSize } from './outcome';
import type { ContextData, LogicBudget, LogicHost } from './types';

export interface HostAnswersOptions {
  program: WireProgram;
  context: ContextData;
  host: LogicHost;
  budget: LogicBudget;
  limits: Limits;
  /** For errors of the host that are not AppsErrors: their causes must not be lost. */
  reportHostError(name: string, error: unknown): void;
}

/** Milliseconds after which the calls of one message let others have their turn: they may never wait for anything. */
const turnTime = 10;

/** Characters of all arguments of a request's host calls, as a multiple of what one message may have. */
const argumentFactor = 8;

/** Makes the host calls of one session. */
export class HostAnswers {
  /** The errors that calls were answered with, by the numbers that the sandbox knows them by. */
  readonly errors: AppsError[] = [];
  /** Name of the host call that is under way. */
  current: string | null = null;

  constructor(private readonly options: HostAnswersOptions) {}

  /** Counts the calls as made; the error that ends the session when there are more than a request may make. */
  refusal(calls: HostCalls): AppsError | null {
    const { budget, limits } = this.options;
    budget.hostCalls += calls.length;
    if (budget.hostCalls <= limits.hostCalls) return null;
    return this.over(`made more than ${limits.hostCalls} host calls`);
  }

  /**
   * Counts the characters of one message of calls, before it is read; the error that ends the session when a request has
   * had more than the server may be kept busy with.
   */
  sizeRefusal(size: number): AppsError | null {
    const { budget, limits } = this.options;
    const most = messageSize(limits) * argumentFactor;
    budget.argumentSize += size;
    return budget.argumentSize <= most ? null : this.over(`made host calls with more than ${most} characters`);
  }

  private over(what: string): AppsError {
    return logicError(`The logic of this request ${what}`, { file: entryOf(this.options.program) });
  }

  /**
   * Makes the calls in order, until one fails, and returns the answer's JSON text (`HostAnswer`). Answers that together
   * would fill the sandbox's memory, or are not JSON, become an error. Stops when the session is over, for one message may
   * hold a thousand calls: the answer is then ''.
   */
  async text(calls: HostCalls, isOver: () => boolean): Promise<string> {
    const limit = (this.options.limits.logicMemory * 1024 * 1024) / 4;
    const run = this.hostRun();
    const values: string[] = [];
    let error = '';
    let size = 0;
    let rested = performance.now();
    for (const [name, args] of calls) {
      if (performance.now() - rested > turnTime) {
        await setImmediate();
        rested = performance.now();
      }
      if (isOver()) return '';
      this.current = name;
      try {
        const value = JSON.stringify(await callHost(run, name, args));
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

  /** The answer to calls that are not made. */
  refused(message: string): string {
    this.options.budget.hostCalls += 1;
    const error = this.errorOf('', new AppsError('BadRequestError', message));
    return JSON.stringify({ values: [], error } satisfies HostAnswer);
  }

  private hostRun(): HostRun {
    const { host, context, program, budget, limits } = this.options;
    return {
      host,
      app: context.app.id,
      block: context.block?.id ?? null,
      logEntrySize: limits.logEntrySize,
      lineOf: (stack) => locate(stack, program)?.line ?? null,
      countLog() {
        budget.logEntries += 1;
        if (budget.logEntries <= limits.logEntries) return;
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
