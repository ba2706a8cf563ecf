import type { Context } from 'koa';
import { within } from '../../common/time/pace';

/** What a process needs to answer requests, in the order in which an answer names it. */
export const checkNames = ['process', 'database', 'sandbox', 'indexes', 'jobs'] as const;

type CheckName = (typeof checkNames)[number];

/** A check: null where all is well, `off` where the process is not to do it, else the reason. A check that rejects fails. */
export type Checks = Record<CheckName, () => Promise<string | null> | string | null>;

/** The answer of `/_apps/ready` (docs/operate/monitoring.md#readiness). */
export interface Readiness {
  status: 'ready' | 'unready';
  checks: Record<CheckName, string>;
}

/** Milliseconds that all checks may take, and for which their answer is given again: anyone may ask. */
const CHECK_TIME = 2_000;
const KEPT = 500;

/** What is said of a check that takes too long or throws: its error may name the machine. */
const LATE = 'does not answer';
const failed: Record<CheckName, string> = {
  process: 'fails',
  database: 'cannot be reached',
  sandbox: 'cannot run logic',
  indexes: 'cannot be read',
  jobs: 'cannot be read',
};

/** Makes the handler of `/_apps/ready`. Requests that come together, and those of the next half second, share one look. */
export function createReady(checks: Checks): (ctx: Context) => Promise<void> {
  let last: { at: number; answer: Promise<Readiness> } | undefined;
  return async (ctx) => {
    // A process that ends says so at once.
    if (!last || performance.now() - last.at > KEPT || checks.process() !== null)
      last = { at: performance.now(), answer: look(checks) };
    const answer = await last.answer;
    ctx.status = answer.status === 'ready' ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    if (ctx.status === 503) ctx.set('Retry-After', '2');
    ctx.body = answer;
  };
}

async function look(checks: Checks): Promise<Readiness> {
  const one = async (name: CheckName) => {
    const found = await within(
      (async () => checks[name]())().catch(() => failed[name]),
      CHECK_TIME,
    );
    return [name, found === 'late' ? LATE : (found.value ?? 'ok')] as const;
  };
  const found = Object.fromEntries(await Promise.all(checkNames.map(one))) as Readiness['checks'];
  const isReady = Object.values(found).every((said) => said === 'ok' || said === 'off');
  return { status: isReady ? 'ready' : 'unready', checks: found };
}
