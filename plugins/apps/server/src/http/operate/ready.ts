import type { Context } from 'koa';
import { within } from '../../common/time/pace';
import type { Reading } from '../../metrics';

/** What a process needs to answer requests, in the order in which an answer names it. */
export const checkNames = ['process', 'database', 'sandbox', 'indexes', 'jobs'] as const;

type CheckName = (typeof checkNames)[number];

/** A check: null where all is well, `off` where the process is not to do it, else the reason. A check that rejects fails. */
type Check = () => Promise<string | null> | string | null;

export type Checks = Record<CheckName, Check>;

/** The answer of `/_apps/ready` (docs/operate/monitoring.md#readiness). */
export interface Readiness {
  status: 'ready' | 'unready';
  checks: Record<CheckName, string>;
}

/** Milliseconds that all checks may take, and for which their answer is given again: anyone may ask. */
export const CHECK_TIME = 2_000;
const KEPT = 500;

/**
 * Milliseconds after which a check that has not ended is begun once more. A statement on a connection that is half open may never
 * end; one more with each look would take all connections of the pool.
 */
export const BEGUN_AGAIN = 10_000;

/** What is said of a check that takes too long or throws: its error may name the machine. */
const LATE = 'does not answer';
const failed: Record<CheckName, string> = {
  process: 'fails',
  database: 'cannot be reached',
  sandbox: 'cannot run logic',
  indexes: 'cannot be read',
  jobs: 'cannot be read',
};

/** Looks at all checks. */
export type Look = () => Promise<Readiness>;

/** Makes a look. Those that come together, and those of the next half second, share one. */
export function createLook(checks: Checks): Look {
  const running = Object.fromEntries(checkNames.map((name) => [name, once(checks[name], failed[name])])) as Checks;
  let last: { at: number; process: unknown; answer: Promise<Readiness> } | undefined;
  return () => {
    const process = checks.process();
    // A process that ends says so at once.
    if (!last || last.process !== process || performance.now() - last.at > KEPT)
      last = { at: performance.now(), process, answer: look(running) };
    return last.answer;
  };
}

/** A check that is not begun while it runs. @param failure what is said where it throws */
function once(check: Check, failure: string): Check {
  let begun: { at: number; said: Promise<string | null> } | undefined;
  return () => {
    if (begun && performance.now() - begun.at < BEGUN_AGAIN) return begun.said;
    const said = (async () => check())()
      .catch(() => failure)
      .finally(() => {
        if (begun?.said === said) begun = undefined;
      });
    begun = { at: performance.now(), said };
    return said;
  };
}

async function look(checks: Checks): Promise<Readiness> {
  const one = async (name: CheckName) => {
    const found = await within(checks[name](), CHECK_TIME);
    return [name, found === 'late' ? LATE : (found.value ?? 'ok')] as const;
  };
  const found = Object.fromEntries(await Promise.all(checkNames.map(one))) as Readiness['checks'];
  return { status: Object.values(found).every(isFine) ? 'ready' : 'unready', checks: found };
}

const isFine = (said: string): boolean => said === 'ok' || said === 'off';

/** Makes the handler of `/_apps/ready`. */
export function createReady(look: Look): (ctx: Context) => Promise<void> {
  return async (ctx) => {
    const answer = await look();
    ctx.status = answer.status === 'ready' ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    if (ctx.status === 503) ctx.set('Retry-After', '2');
    ctx.body = answer;
  };
}

/** The checks as a metric: Prometheus asks for metrics, and would not see a part that does not work while no request needs it. */
export const readinessOf = (look: Look): Reading => ({
  ...{ name: 'ready', help: 'Whether a part of the process works, as /_apps/ready says', labels: ['check'] },
  read: async () =>
    Object.entries((await look()).checks).map(([check, said]) => [{ check }, isFine(said) ? 1 : 0] as const),
});
