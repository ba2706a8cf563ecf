import {
  type App,
  type Block,
  callVisit,
  confirmationTimes,
  deleteRecord,
  type Run,
  releaseUnconfirmed,
  waitsFor,
  withRun,
} from '../apps';
import { isAppsError } from '../common/errors';
import { isUnconfirmed, type UnconfirmedAs, unconfirmedPlace } from '../indexes';
import type { StoredRecord } from '../records/types';
import type { Site, Sites } from '../sites/types';
import type { CallServices } from './calls';

/** Milliseconds between two looks. */
const LOOK = 10_000;

/** Records that are looked at in one step. */
const PAGE = 100;

/** Takes their places from records that were not confirmed in time, and later deletes them. */
export interface Unconfirmed {
  start(): void;
  /** Looks at once. */
  look(): Promise<void>;
  destroy(): Promise<void>;
}

type Services = CallServices & { sites: Sites };

/**
 * What becomes of the records in one of the two places of the index, and after which time. A place is given back before its time is
 * over, so that it is not kept longer where the next look is late.
 */
const ends: readonly { as: UnconfirmedAs; age: number; work(run: Run, record: StoredRecord): Promise<unknown> }[] = [
  {
    as: 'held',
    age: confirmationTimes.held - 2 * LOOK,
    work: (run, record) => releaseUnconfirmed(run, { site: run.visit.site.id, app: run.app.id }, record),
  },
  {
    as: 'lapsed',
    age: confirmationTimes.kept,
    work: (run, record) => deleteRecord(run, workingBlock(run, record), record),
  },
];

/** The block of a record, whose `on_delete` runs; null where it is broken or gone. */
function workingBlock({ app }: Run, { items }: StoredRecord): Block | null {
  const block = app.blocks.get(String(items.block));
  return block && !block.error ? block : null;
}

/** Looks after the unconfirmed records of all apps (docs/decisions/confirmation.md). @param services called at each use */
export function createUnconfirmed(services: () => Services): Unconfirmed {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isEnded = false;

  const report = (about: string) => (error: unknown) =>
    services().logger.error(`[apps] unconfirmed records${about}: ${String(error)}`);

  const look = async (): Promise<void> => {
    const all = services();
    for (const site of await all.sites.all())
      for (const appId of await all.sites.apps(site)) {
        if (isEnded) return;
        const lookAt = async () => {
          const app = await all.loadApp(site, appId);
          if (app?.confirms && !app.error) for (const end of ends) await endAll(all, site, app, end);
        };
        await lookAt().catch(report(` of ${appId}`));
      }
  };

  const begin = (): void => {
    const keepLooking = async () => {
      await look().catch(report(''));
      if (!isEnded) timer = setTimeout(begin, LOOK).unref();
    };
    running = keepLooking();
  };

  /** The oldest records of a place, until one is too young. */
  async function endAll(all: Services, site: Site, app: App, { as, age, work }: (typeof ends)[number]): Promise<void> {
    const key = { site: site.id, app: app.id };
    const place = unconfirmedPlace(as);
    const seen = new Set<string>();
    for (let offset = 0; !isEnded; ) {
      const { records } = await all.store.search(key, app.indexes, { place, limit: PAGE, offset });
      for (const record of records) {
        if (waitsFor(record) < age) return;
        // One that was dealt with and is still there is left until the next look.
        if (seen.has(record.id)) offset += 1;
        else await endOne(all, site, app, record, work).catch(report(` of ${app.id}`));
        seen.add(record.id);
      }
      if (records.length < PAGE) return;
    }
  }

  return {
    start: begin,
    look,
    async destroy() {
      isEnded = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Does what the time of a record asks for, for the app. Another process may have done it. */
async function endOne(
  all: Services,
  site: Site,
  app: App,
  { id }: StoredRecord,
  work: (run: Run, record: StoredRecord) => Promise<unknown>,
): Promise<void> {
  const requester = await all.requesters.anonymous();
  const content = await all.sites.content.resolve(site, '', requester);
  if (!content) return;
  const address = all.sites.urls.app(site, app.id);
  const call = { site, content, requester, address, params: {}, isForApp: true };
  const visit = callVisit(all, { ...call, through: 'logic' });
  const done = withRun(
    all,
    visit,
    app,
    async (run) => {
      const record = await run.unit.get({ site: site.id, app: app.id }, id);
      if (record && isUnconfirmed(record.items)) await work(run, record);
    },
    { recordId: id },
  );
  await done.catch((error: unknown) => {
    if (!isAppsError(error, 'NotFoundError')) throw error;
  });
}
