import { callVisit, withRun } from '../apps';
import type { App } from '../apps/types';
import { documentIdsIn } from '../files';
import { changedBy } from '../records';
import type { AppKey, StoredRecord, UnitOfWork } from '../records/types';
import type { Site } from '../sites/types';
import type { Forgetting } from './owned';
import type { PersonServices } from './types';

/** The record that is to be forgotten: one of the same id that was made since is another. */
export interface ForgottenRecord {
  key: AppKey;
  id: string;
  seq: number;
}

/**
 * Takes away a record, or items of it, with all versions in the history, its links and its files, in one transaction. No logic runs: it
 * could keep what goes. Places, references and webhooks follow as for any other change.
 * @param plan what goes, from the record and the app of that moment: another change may have come before; null: nothing
 * @returns whether something went
 */
export async function forget(
  services: PersonServices,
  { key, id, seq }: ForgottenRecord,
  plan: (record: StoredRecord, app: App | null) => Forgetting | null,
): Promise<boolean> {
  const site = await services.sites.site(key.site);
  const app = site ? await services.loadApp(site, key.app) : null;
  const work = async (unit: UnitOfWork): Promise<StoredRecord | null> => {
    const record = await unit.get(key, id);
    if (record?.seq !== seq) return null;
    const forgetting = plan(record, app);
    if (!forgetting) return null;
    await takeAway(unit, key, record, forgetting);
    unit.atCommit(services.history.forget(key, id));
    // Who holds the link of an entry's record is not the person of the entry.
    if (forgetting.does !== 'change') unit.atCommit(services.links.forget(key, id));
    return record;
  };
  if (site && app) return (await inRun(services, site, app, id, work)) !== null;
  // The theme no longer has the app: its records have no places, and its files no elements.
  const by = { requester: '', through: 'job', forgets: true } as const;
  const gone = await changedBy(by, () => services.store.transact(work, { key, id }));
  if (gone) await services.files.release(key, documentIdsIn(gone.items));
  return gone !== null;
}

async function takeAway(unit: UnitOfWork, key: AppKey, { id }: StoredRecord, forgetting: Forgetting): Promise<void> {
  if (forgetting.does === 'delete') await unit.delete(key, id);
  else if (forgetting.does === 'change') await unit.update(key, id, { set: forgetting.set });
  else await unit.update(key, id, { unset: forgetting.items, creator: null });
}

/** Runs work on a record of an app as that of no requester, who may do everything. */
async function inRun<T>(
  services: PersonServices,
  site: Site,
  app: App,
  recordId: string,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const requester = { ...(await services.requesters.anonymous()), isManager: true };
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw new Error(`The site "${site.id}" has no portal`);
  const address = services.sites.urls.app(site, app.id);
  const call = { site, content, requester, address, params: {}, forgets: true };
  const visit = callVisit(services, { ...call, through: 'job' });
  const { value } = await withRun(services, visit, app, ({ unit }) => work(unit), { recordId });
  return value;
}
