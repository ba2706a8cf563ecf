import type { Context } from 'koa';
import { z } from 'zod';
import { type App, callVisit, removeRecord, withRun } from '../../apps';
import { notFound } from '../../errors';
import { readParameters } from '../../request-schema';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';

const parameters = z.object({
  id: z.string({ error: () => 'names the record' }),
  on_delete: z.enum(['true', 'false'], { error: () => 'is true or false' }).default('true'),
});

/**
 * Deletes the record that the query names by `id`, as the administrator. `on_delete=false` skips the `on_delete` of its
 * block, which may be broken.
 */
export async function deleteFromPanel(ctx: Context, services: HttpServices, site: Site, app: App): Promise<void> {
  const { id, on_delete: onDelete } = readParameters(parameters, ctx.query);
  const requester = await services.requesters.fromStrapi(ctx.state);
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw notFound('There is no such site');
  const address = services.sites.urls.record(site, app.id, id);
  const visit = callVisit(services, { site, content, requester, address, params: {} });
  await withRun(services, visit, app, (run) => removeRecord(run, id, undefined, onDelete === 'true'), { recordId: id });
}
