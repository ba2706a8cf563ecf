import type { Context } from 'koa';
import { methodNotAllowed } from '../../common/errors';
import type { HttpServices } from '../request/exchange';
import { jsonErrors, respondError } from '../response/respond-error';
import { answerMetrics } from './metrics';
import { type Checks, createLook, createReady, readinessOf } from './ready';

export type { Checks } from './ready';

/** Beginning of the addresses of a server process; no site has this id. */
const PREFIX = '/_apps/';

/** Answers the addresses of a server process itself: `/_apps/ready` and `/_apps/metrics`. @returns false for any other */
export function createOperate(services: HttpServices, checks: Checks): (ctx: Context) => Promise<boolean> {
  const look = createLook(checks);
  services.metrics.add(readinessOf(look));
  const handlers = new Map([
    [`${PREFIX}ready`, createReady(look)],
    [`${PREFIX}metrics`, (ctx: Context) => answerMetrics(ctx, services)],
  ]);
  return async (ctx) => {
    const handle = ctx.path.startsWith(PREFIX) ? handlers.get(ctx.path) : undefined;
    if (!handle) return false;
    try {
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
      await handle(ctx);
    } catch (error) {
      await respondError(ctx, error, jsonErrors(services.logger));
    }
    return true;
  };
}
