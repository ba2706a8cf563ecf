import { z } from 'zod';
import type {
  HistoryAuthor,
  HistoryChange,
  HistoryList,
  historyRoutes,
  RecordCreator,
  UndoPlan,
} from '../../../../shared/admin-api';
import type { Json } from '../../../../shared/json';
import { requireHistory, restoreVersion, type Undo, undoAll, undoneBy, withRun } from '../../apps';
import { rightsOf } from '../../auth';
import { must, readParameters, validateBody } from '../../common/validation';
import { type HistoryVersion, itemsBefore } from '../../records';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { panelVisit } from './acting';
import { appOf, type Handlers } from './handler';

/** Changes of one page of the panel. */
const PAGE = 50;

/** What stands for requesters without a login, whose identity is no text. */
const ANONYMOUS = 'anonymous';

const TIME = must('a time, as ISO 8601');
const time = z
  .string(TIME)
  .refine((text) => !Number.isNaN(Date.parse(text)), TIME)
  .transform((text) => Date.parse(text));
const requester = z
  .string(must('the identity of a requester, or anonymous'))
  .max(255)
  .transform((text) => (text === ANONYMOUS ? '' : text));
const VERSION = must('the number of a version');
const version = z.int(VERSION).min(1, VERSION);

const listParameters = z.object({
  id: z.string(must('the id of a record')).optional(),
  requester: requester.optional(),
  since: time.optional(),
  before: z
    .string(VERSION)
    .regex(/^\d{1,15}$/, VERSION)
    .transform(Number)
    .optional(),
});
const restoreBody = z.object({ id: z.string(must('the id of a record')), version });
const undoQuery = { requester, since: time };
const undoParameters = z.object(undoQuery);
const undoBody = z.object({ ...undoQuery, version: version.nullable() });

/** What the admin routes of the history answer (shared/admin/records.ts). */
export const historyHandlers: Handlers<typeof historyRoutes> = {
  async history(ctx, services): Promise<HistoryList> {
    const { app, key, ...found } = await appOf(ctx, services);
    const visit = await panelVisit(ctx, services, { app, key, ...found });
    requireHistory({ app, visit, rights: rightsOf(visit.requester, app.settings.acl) });
    const asked = readParameters(listParameters, ctx.query);
    const { versions, isLast } = await services.history.page(key, { ...asked, limit: PAGE });
    const names = await namesOf(services, versions);
    ctx.set('Cache-Control', 'private, no-store');
    return {
      changes: versions.map((one) => changeOf(one, names)),
      older: isLast ? null : String(versions.at(-1)?.version),
    };
  },

  async restoreVersion(ctx, services): Promise<{ created: boolean }> {
    const found = await appOf(ctx, services);
    const { id, version } = validateBody(restoreBody, jsonObject(ctx));
    const visit = await panelVisit(ctx, services, found, id);
    const done = await withRun(services, visit, found.app, (run) => restoreVersion(run, id, version), { recordId: id });
    return { created: done.value.created };
  },

  async undoPlan(ctx, services): Promise<UndoPlan> {
    const found = await appOf(ctx, services);
    const asked = readParameters(undoParameters, ctx.query);
    const visit = await panelVisit(ctx, services, found);
    const done = await withRun(services, visit, found.app, (run) => undoneBy(run, asked), { isDropped: true });
    ctx.set('Cache-Control', 'private, no-store');
    return planOf(services, done.value);
  },

  async undo(ctx, services): Promise<UndoPlan> {
    const found = await appOf(ctx, services);
    const { version, ...asked } = validateBody(undoBody, jsonObject(ctx));
    const visit = await panelVisit(ctx, services, found);
    const done = await withRun(services, visit, found.app, (run) => undoAll(run, asked, version));
    return planOf(services, done.value);
  },
};

type Names = ReadonlyMap<string, Pick<RecordCreator, 'name' | 'path'>>;

const namesOf = (services: HttpServices, changes: readonly Pick<HistoryVersion, 'by'>[]): Promise<Names> =>
  services.creators([...new Set(changes.flatMap(({ by }) => by ?? []))]);

function authorOf({ at, by, through }: Pick<HistoryVersion, 'at' | 'by' | 'through'>, names: Names): HistoryAuthor {
  const account = by === null ? null : { identity: by, ...(names.get(by) ?? { name: by, path: null }) };
  return { at: new Date(at).toISOString(), by: account, through };
}

function changeOf(change: HistoryVersion, names: Names): HistoryChange {
  const { version, id, items, earlier } = change;
  const before = itemsBefore(change);
  const event = earlier === null ? 'create' : items === null ? 'delete' : 'update';
  const changed = earlier ? [...Object.keys(earlier.set), ...earlier.added] : Object.keys(items ?? {});
  const valueIn = (all: Record<string, Json> | null, name: string) =>
    all && Object.hasOwn(all, name) ? all[name] : undefined;
  return {
    version,
    id,
    event,
    ...authorOf(change, names),
    items: changed.map((name) => {
      const [was, is] = [valueIn(before, name), valueIn(items, name)];
      return { name, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) };
    }),
  };
}

async function planOf(services: HttpServices, { version, records }: Undo): Promise<UndoPlan> {
  const names = await namesOf(
    services,
    records.flatMap(({ later }) => later),
  );
  const shown = records.map(({ later, ...record }) => ({
    ...record,
    later: later.map((change) => ({ ...authorOf(change, names), items: change.items })),
  }));
  return { version, records: shown };
}
