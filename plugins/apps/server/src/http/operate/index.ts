import type { Context } from 'koa';
import { methodNotAllowed } from '../../common/errors';
import type { Awaitable } from '../../common/time/awaitable';
import type { HttpServices } from '../request/exchange';
import { jsonErrors, respondError } from '../response/respond-error';
import { answerMetrics } from './metrics';
import { type Checks, createLook, createReady, readinessOf } from './ready';

export type { Checks } from './ready';

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
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
      await handle(ctx);
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
