import type { Context } from 'koa';
import { type App, callVisit, removeRecord, withRun } from '../apps';
import { AppsError } from '../errors';
import type { Site } from '../sites/types';
import type { DoorServices } from './exchange';

/**
 * Deletes the record that the query names, in the administrator's name: `id`, and `on_delete=false` for leaving out the
 * `on_delete` of its block, which may be broken.
 */
export async function deleteFromPanel(ctx: Context, services: DoorServices, site: Site, app: App): Promise<void> {
  const { id, on_delete: onDelete = 'true' } = ctx.query;
  if (typeof id !== 'string') throw new AppsError('BadRequestError', 'The parameter "id" names the record');
  if (onDelete !== 'true' && onDelete !== 'false')
    throw new AppsError('BadRequestError', 'The parameter "on_delete" is true or false');
  const requester = await services.requesters.fromStrapi(ctx.state);
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw new AppsError('NotFoundError', 'There is no such site');
  const address = services.sites.urls.record(site, app.id, id);
  const visit = callVisit(services, { site, content, requester, address, params: {} });
  await withRun(services, visit, app, (run) => removeRecord(run, id, undefined, onDelete === 'true'), id);
}
