import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { holdsPermission } from '../auth';
import { AppsError, notFound } from '../common/errors';
import type { Awaitable } from '../common/time/awaitable';
import { within } from '../common/time/pace';
import type { Reading } from '../metrics';
import type { HttpServices } from './request/exchange';
import { isAnsweredByMethod, READ } from './request/negotiate';
import { jsonErrors, respondError } from './response/respond-error';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** In constant time, whatever their lengths. */
const isSame = (given: string, wanted: string) => timingSafeEqual(digest(given), digest(wanted));

/**
 * Answers `/_apps/metrics` in Prometheus's text format (docs/operate/monitoring.md#metrics): to the token of the configuration, and to
 * administrators with the permission `plugin::apps.metrics`. Without a token in the configuration it does not exist for others.
 */
async function answerMetrics(ctx: Context, services: HttpServices): Promise<void> {
  const { token } = services.config.metrics;
  ctx.set('Cache-Control', 'no-store');
  ctx.vary('Authorization, Cookie');
  const [, given] = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization')) ?? [];
  if (!(token !== '' && given !== undefined && isSame(given, token))) await requirePermission(ctx, services);
  const { type, body } = await services.metrics.text();
  ctx.type = type;
  ctx.body = body;
}

async function requirePermission(ctx: Context, { config, requesters }: HttpServices): Promise<void> {
  const hidden = () => notFound('There is nothing at this address');
  const isHidden = config.metrics.token === '';
  const requester = await requesters.identify(ctx).catch((error) => {
    if (isHidden) throw hidden();
    throw error;
  });
  if (holdsPermission(requester, 'metrics')) return;
  if (isHidden) throw hidden();
  if (requester.kind !== 'anonymous') throw new AppsError('ForbiddenError', 'This takes the permission to see metrics');
  throw new AppsError('UnauthorizedError', 'This takes the token of the configuration "metrics"', {
    headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
  });
}

/** What a process needs to answer requests, in the order in which an answer names it. */
const checkNames = ['process', 'database', 'sandbox', 'indexes', 'jobs'] as const;

type CheckName = (typeof checkNames)[number];

/** A check: null where all is well, `off` where the process is not to do it, else the reason. A check that rejects fails. */
type Check = () => Promise<string | null> | string | null;

export type Checks = Record<CheckName, Check>;

/** The answer of `/_apps/ready` (docs/operate/monitoring.md#readiness). */
interface Readiness {
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
type Look = () => Promise<Readiness>;

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
function createReady(look: Look): (ctx: Context) => Promise<void> {
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
  name: 'ready',
  help: 'Whether a part of the process works, as /_apps/ready says',
  labels: ['check'],
  read: async () =>
    Object.entries((await look()).checks).map(([check, said]) => [{ check }, isFine(said) ? 1 : 0] as const),
});

/** Beginning of the addresses of a server process; no site has this id. */
const PREFIX = '/_apps/';

/** Answers the addresses of a server process itself: `/_apps/ready` and `/_apps/metrics`. @returns false for any other */
export function createOperate(services: HttpServices, checks: Checks): (ctx: Context) => Awaitable<boolean> {
  const look = createLook(checks);
  services.metrics.add(readinessOf(look));
  const handlers = new Map([
    [`${PREFIX}ready`, createReady(look)],
    [`${PREFIX}metrics`, (ctx: Context) => answerMetrics(ctx, services)],
  ]);
  const answer = async (ctx: Context, handle: (ctx: Context) => Promise<void>): Promise<true> => {
    try {
      if (!isAnsweredByMethod(ctx, READ)) await handle(ctx);
    } catch (error) {
      await respondError(ctx, error, jsonErrors(services.logger));
    }
    return true;
  };
  return (ctx) => {
    const handle = ctx.path.startsWith(PREFIX) ? handlers.get(ctx.path) : undefined;
    return handle ? answer(ctx, handle) : false;
  };
}
