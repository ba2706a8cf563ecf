import { z } from 'zod';
import type { RecordCreator, RecordSummary, RecordsPage, recordRoutes } from '../../../../../shared/admin-api';
import { shownRecords } from '../../../apps';
import { must, readParameters } from '../../../common/request-schema';
import type { StoredRecord } from '../../../records/types';
import type { HttpServices } from '../../request/exchange';
import { appOf, type Handlers, type PanelApp } from '../handler';
import { exportRecords } from './export';
import { importHandlers } from './import';
import { plainSearch } from './plain-search';
import { changeHandlers } from './record-changes';
import { formHandlers } from './record-form';

/** Records of one page of the panel. */
const MAX_PAGE = 100;

/** What the panel asks for of records; a number that is none gets its default. */
export const recordsParameters = z.object({
  query: z.string(must('a text')).default(''),
  sort: z.string(must('the name of an index')).optional(),
  reverse: z.enum(['true', 'false'], must('true or false')).default('false'),
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
    const found = await appOf(ctx, services);
    const { query, sort, reverse, limit, offset } = readParameters(recordsParameters, ctx.query);
    const plain = plainSearch(query, found.app.indexes);
    const options = {
      ...{ limit, offset, withTotal: true, reverse: reverse === 'true' },
      ...(plain ?? { query }),
      ...(sort ? { sortIndex: sort } : {}),
    };
    const { records, total } = await services.store.search(found.key, found.app.indexes, options);
    return {
      total: total ?? records.length,
      records: await summaries(services, found, records),
      query: plain?.shown ?? null,
    };
  },

  exportRecords,
  ...changeHandlers,
  ...formHandlers,
  ...importHandlers,
};

/** Records as the panel shows them, with their creators by name. */
export async function summaries(
  services: HttpServices,
  { site, app, key }: PanelApp,
  records: readonly StoredRecord[],
): Promise<RecordSummary[]> {
  const identities = new Set(records.flatMap(({ creator }) => creator || []));
  const creators = await services.creators([...identities]);
  const creatorOf = (identity: string | null): RecordCreator | null =>
    identity ? { identity, ...(creators.get(identity) ?? { name: identity, path: null }) } : null;
  const shown = await shownRecords(services.files, key, records);
  return shown.map(({ id, creator, items }) => ({
    id,
    url: services.sites.urls.record(site, app.id, id),
    creator: creatorOf(creator),
    items,
  }));
}
