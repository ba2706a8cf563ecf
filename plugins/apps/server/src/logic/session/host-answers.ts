import type { HostAnswer, HostCalls, WireProgram } from '../../../../shared/logic-protocol';
import { AppsError, logicError } from '../../common/errors';
import { spanned, withinSpan } from '../../common/spans';
import type { Limits } from '../../config.types';
import { type Caller, callHost } from '../host-functions';
import type { ContextData, LogicBudget, LogicHost } from '../types';
import type { HostPace } from './host-pace';
import { entryOf, locate, messageSize } from './outcome';

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
      lineOf: (stack) => locate(stack, program)?.line ?? null,
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
