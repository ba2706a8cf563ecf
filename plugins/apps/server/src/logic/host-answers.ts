import type { HostAnswer, HostCalls } from '../../../sandbox/src/prelude/types';
import type { WireProgram } from '../../../sandbox/src/protocol';
import type { Limits } from '../config.types';
import { AppsError } from '../errors';
import { logicError } from './compile';
import { callHost, type HostRun } from './host-functions';
import { entryOf, locate } from './outcome';
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

/** Makes the host calls of one session. */
export class HostAnswers {
  /** The errors that calls were answered with, by the numbers that the sandbox knows them by. */
  readonly errors: AppsError[] = [];

  constructor(private readonly options: HostAnswersOptions) {}

  /** Counts the calls as made; the error that ends the session when there are more than a request may make. */
  refusal(calls: HostCalls): AppsError | null {
    const { budget, limits, program } = this.options;
    budget.hostCalls += calls.length;
    if (budget.hostCalls <= limits.hostCalls) return null;
    const message = `The logic of this request made more than ${limits.hostCalls} host calls`;
    return logicError(message, { file: entryOf(program) });
  }

  /**
   * Makes the calls in order, until one fails, and returns the answer's JSON text. An answer that would fill the
   * sandbox's memory, or is not JSON, becomes an error.
   */
  async text(calls: HostCalls): Promise<string> {
    const answer = await this.answer(calls);
    const [name] = calls[calls.length - 1];
    const limit = (this.options.limits.logicMemory * 1024 * 1024) / 4;
    let text: string;
    try {
      text = JSON.stringify(answer);
    } catch (error) {
      return JSON.stringify({ values: [], error: this.errorOf(name, error) });
    }
    if (text.length <= limit) return text;
    const tooLarge = new AppsError('PayloadTooLargeError', `${name}: the answer is larger than ${limit} characters`);
    return JSON.stringify({ values: [], error: this.errorOf(name, tooLarge) });
  }

  private async answer(calls: HostCalls): Promise<HostAnswer> {
    const values: HostAnswer['values'] = [];
    for (const [name, args] of calls) {
      try {
        values.push(await callHost(this.hostRun(), name, args));
      } catch (error) {
        return { values, error: this.errorOf(name, error) };
      }
    }
    return { values };
  }

  private hostRun(): HostRun {
    const { host, context, program, budget, limits } = this.options;
    return {
      host,
      app: context.app.id,
      block: context.block?.id ?? null,
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
