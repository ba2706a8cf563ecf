import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { holdsPermission } from '../../auth';
import { AppsError, notFound } from '../../common/errors';
import type { HttpServices } from '../request/exchange';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** In constant time, whatever their lengths. */
const isSame = (given: string, wanted: string) => timingSafeEqual(digest(given), digest(wanted));

/**
 * Answers `/_apps/metrics` in Prometheus's text format (docs/operate/monitoring.md#metrics): to the token of the configuration, and to
 * administrators with the permission `plugin::apps.metrics`. Without a token in the configuration it does not exist for others.
 */
export async function answerMetrics(ctx: Context, services: HttpServices): Promise<void> {
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
