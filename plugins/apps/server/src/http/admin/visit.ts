import type { Context } from 'koa';
import { callVisit, type Visit } from '../../apps';
import { notFound } from '../../common/errors';
import type { HttpServices } from '../request/exchange';
import { administratorOf, type PanelApp } from './handler';

/** The visit of what an administrator does in the panel with an app. @param recordId the record that it is about */
export async function panelVisit(
  ctx: Context,
  services: HttpServices,
  { site, app }: PanelApp,
  recordId?: string,
): Promise<Visit> {
  const requester = await administratorOf(ctx, services);
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw notFound('There is no such site');
  const { urls } = services.sites;
  const address = recordId === undefined ? urls.app(site, app.id) : urls.record(site, app.id, recordId);
  return callVisit(services, { site, content, requester, address, params: {} });
}
