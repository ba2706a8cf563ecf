import { later } from '../replies';
import { errorText } from './errors';
import { looked } from './looked';
import { NativeError, NativeRangeError, reflectApply, resume, resumeWithError } from './primordials';

/** A result that may be a promise, and the name of its function; null: all that logic goes on with, until no microtask is left. */
type Awaited = { name: string; result: unknown } | null;

/** A request being answered: it yields what must be awaited, is given what that becomes, and returns JSON text. */
export type Work = Generator<Awaited, string, unknown>;

type Step = IteratorResult<Awaited, string>;

/**
 * Answers one request at a time: JSON text of a `PreludeAnswer`, or `later`. A text is given at once where logic waits for nothing:
 * the engine then runs what is left of promises before the runner gets the text, while a promise as an answer costs the isolate two more
 * messages, and would be there before that. No code of a theme makes it throw.
 * @param limit characters of an answer
 */
export function createAnswers(limit: () => number): {
  begin(work: Work): string;
  /** The answer after `later`, or `later` again: another promise has come since. A promise that has not settled never will. */
  take(): string;
  /** Keeps nothing of the last request, and lets it answer no more. */
  forget(): void;
} {
  let text = '';
  let waiting: { work: Work; name: string | null } | null = null;
  /** Counts the steps of all requests. */
  let turn = 0;

  function failed(error: unknown): string {
    // Described first: a proxy's traps may run.
    const described = errorText(error);
    return `{"error":${described}${looked.take()}}`;
  }

  function finished(value: string): string {
    if (value.length + '{"value":}'.length <= limit()) return `{"value":${value}${looked.take()}}`;
    return failed(new NativeRangeError(`The results of the functions are together larger than ${limit()} characters`));
  }

  function advance(work: Work, method: unknown, value: unknown): string {
    waiting = null;
    turn += 1;
    try {
      const step = reflectApply(method as () => Step, work, [value]);
      if (step.done) return finished(step.value);
      const awaited = step.value;
      waiting = { work, name: awaited?.name ?? null };
      if (awaited) void settle(work, awaited.result, turn);
      return later;
    } catch (error) {
      return failed(error);
    }
  }

  async function settle(work: Work, result: unknown, mine: number): Promise<void> {
    let method: unknown = resume;
    let value: unknown;
    try {
      value = await result;
    } catch (error) {
      method = resumeWithError;
      value = error;
    }
    // A promise that settles after `take` has given it up changes nothing any more.
    if (mine === turn) text = advance(work, method, value);
  }

  function forget(): void {
    text = '';
    waiting = null;
    turn += 1;
  }

  return {
    forget,
    begin(work) {
      forget();
      return advance(work, resume, undefined);
    },
    take() {
      if (!waiting) return text;
      const { work, name } = waiting;
      if (name === null) return advance(work, resume, undefined);
      const error = new NativeError(`The function ${name} waits for a promise that never settles`);
      return advance(work, resumeWithError, error);
    },
  };
}

/** Whether a value must be awaited. */
export function isThenable(value: unknown): boolean {
  const mayBe = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return mayBe && typeof (value as { then?: unknown }).then === 'function';
}
