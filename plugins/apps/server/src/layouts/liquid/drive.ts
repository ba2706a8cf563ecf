import type { Clock } from '../limits/limits';

interface Steps {
  next(value: unknown): IteratorResult<unknown>;
  throw(error: unknown): IteratorResult<unknown>;
}

const hasMethod = (value: unknown, name: string): boolean =>
  typeof value === 'object' && typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';

const isSteps = (value: unknown): value is Steps => hasMethod(value, 'next') && hasMethod(value, 'throw');
const isPromise = (value: unknown): value is PromiseLike<unknown> => hasMethod(value, 'then');

/** Steps between two updates of the clock; most steps also update it themselves. */
const STRIDE = 32;

/**
 * Runs one of Liquid's generators to its end, as Liquid's `toPromise` does, but yields to the server between slices of
 * time, and updates the clock between steps.
 */
export async function drive(root: Steps, clock: Clock): Promise<unknown> {
  const running = [root];
  let [value, failed]: [unknown, boolean] = [undefined, false];
  let resumed = 0;
  for (let top: Steps | undefined = running.at(-1); top; top = running.at(-1)) {
    resumed += 1;
    if (resumed % STRIDE === 0) clock.update(performance.now());
    if (clock.isSliceOver) await clock.yieldToServer();
    if (clock.timeoutError && !failed) [value, failed] = [clock.timeoutError, true];
    try {
      const state: IteratorResult<unknown> = failed ? top.throw(value) : top.next(value);
      [value, failed] = [state.value, false];
      if (state.done) running.pop();
    } catch (error) {
      running.pop();
      [value, failed] = [error, true];
      continue;
    }
    if (isSteps(value)) {
      running.push(value);
      value = undefined;
    } else if (isPromise(value)) {
      try {
        value = await value;
      } catch (error) {
        [value, failed] = [error, true];
      }
    }
  }
  if (failed) throw value;
  return value;
}
