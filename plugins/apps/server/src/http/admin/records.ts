import { z } from 'zod';
import type { RecordsPage, recordRoutes } from '../../../../shared/admin-api';
import { readParameters } from '../../request-schema';
import { deleteFromPanel } from './delete';
import { appOf, type Handlers } from './handler';

/** Records of one page of the panel. */
const MAX_PAGE = 100;

/** A page of records; a parameter that is no number gets its default. */
const pageParameters = z.object({
  query: z.string().catch(''),
  limit: count(20).transform((limit) => Math.min(limit, MAX_PAGE)),
  offset: count(0),
});

function count(defaultValue: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .catch(defaultValue);
}

/** What the admin routes of an app's records answer (shared/admin/records.ts). */
export const recordHandlers: Handlers<typeof recordRoutes> = {
  async records(ctx, services): Promise<RecordsPage> {
    const { site, app, key } = await appOf(ctx, services);
    const options = { ...readParameters(pageParameters, ctx.query), withTotal: true };
    const found = await services.store.search(key, app.indexes, options);
    return {
      total: found.total ?? found.records.length,
      records: found.records.map(({ id, creator, items }) => ({
        id,
        url: services.sites.urls.record(site, app.id, id),
        creator,
        items,
      })),
    };
  },

  async deleteRecord(ctx, services): Promise<{ success: 'deleted' }> {
    const { site, app } = await appOf(ctx, services);
    await deleteFromPanel(ctx, services, site, app);
    return { success: 'deleted' };
  },
};
