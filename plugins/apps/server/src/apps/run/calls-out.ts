import { AppsError } from '../../common/errors';
import type { OutboundAnswer, OutboundRequest } from '../../outbound/types';
import type { Run } from './types';

/** Calls out of a request. */
export const MAX_CALLS = 20;
/** Milliseconds that they may take together, as a multiple of `fetch.timeout`. */
export const MAX_TIMEOUTS = 4;

/** What an attempt has asked so far. */
export interface AttemptCalls {
  /**
   * The outcome of a call; that of the same call of an earlier attempt at the request, where it has made one: the same arguments,
   * as the first, second, … such call of the attempt. Failures are kept too: the call may have had its effect.
   * @param about the call's arguments
   */
  once(about: string, call: () => Promise<OutboundAnswer>): Promise<OutboundAnswer>;
  /** Calls of all attempts that were made, and their milliseconds. */
  readonly use: { calls: number; time: number };
}

/** Keeps what the calls of a request were answered, for all its attempts. @returns begins an attempt */
export function createCallsOut(): () => AttemptCalls {
  const kept = new Map<string, Promise<OutboundAnswer>>();
  const use = { calls: 0, time: 0 };
  return () => {
    const asked = new Map<string, number>();
    return {
      use,
      once(about, call) {
        const count = asked.get(about) ?? 0;
        asked.set(about, count + 1);
        const key = `${count} ${about}`;
        const known = kept.get(key);
        if (known) return known;
        const outcome = call();
        // An attempt that has ended meanwhile waits for it no more.
        outcome.catch(() => undefined);
        kept.set(key, outcome);
        return outcome;
      },
    };
  };
}

/**
 * Makes a call of the run's app for its logic, whose time stands still meanwhile. Errors as `Outbound.call`; BadRequestError and
 * GatewayTimeoutError when the request has made too many, RateLimitError when the app makes too many at once.
 */
export async function callOut(run: Run, request: OutboundRequest): Promise<OutboundAnswer> {
  const { app, budget, services } = run;
  const { outbound, logic, config } = services;
  // Before it waits for its turn.
  outbound.check(app.id, request);
  // All attempts of this run; all blocks of its page.
  const uses = [run.calls.use, budget.shared.outside];
  if (uses.some(({ calls }) => calls >= MAX_CALLS))
    throw new AppsError('BadRequestError', `A request makes at most ${MAX_CALLS} calls out`);
  const most = config.fetch.timeout * MAX_TIMEOUTS;
  const left = most - Math.max(...uses.map(({ time }) => time));
  if (left < 1)
    throw new AppsError('GatewayTimeoutError', `The calls out of a request take at most ${most} ms together`);
  for (const use of uses) use.calls += 1;
  const begun = performance.now();
  const timeout = Math.min(request.timeout ?? config.fetch.timeout, left);
  const call = () => {
    const rest = Math.max(1, Math.floor(timeout - (performance.now() - begun)));
    return outbound.call(app.id, { ...request, timeout: rest });
  };
  try {
    return await logic.outside(budget, app.id, timeout, call);
  } finally {
    for (const use of uses) use.time += performance.now() - begun;
  }
}
