import {
  type App,
  type Block,
  callVisit,
  confirmationTimes,
  deleteRecord,
  FormRefusal,
  moveUpAll,
  type Run,
  releaseUnconfirmed,
  waitsFor,
  withRun,
} from '../apps';
import { isAppsError, isBlockFailure } from '../common/errors';
import { isUnconfirmed, type UnconfirmedAs, unconfirmedPlace } from '../indexes';
import type { StoredRecord } from '../records/types';
import type { Site, Sites } from '../sites/types';
import type { CallServices } from './calls';

/** Milliseconds between two looks. */
const LOOK = 10_000;

/** Records that are looked at in one step. */
const PAGE = 100;

/** Records in a row that are too young, after which no older ones are looked for. */
const MAX_YOUNG = 1_000;

/** Takes their places from records that were not confirmed in time, and later deletes them. */
export interface Unconfirmed {
  start(): void;
  /** Looks at once. */
  look(): Promise<void>;
  destroy(): Promise<void>;
}

type Services = CallServices & { sites: Sites };

type Work = (run: Run, record: StoredRecord) => Promise<unknown>;

interface End {
  as: UnconfirmedAs;
  age: number;
  work: Work;
  /** What is done where logic refuses that, or fails. */
  otherwise?: Work;
}

/**
 * What becomes of the records in one of the two places of the index, and after which time. A place is given back before its time is
 * over, so that it is not kept longer where the next look is late.
 */
const ends: readonly End[] = [
  {
    as: 'held',
    age: confirmationTimes.held - 2 * LOOK,
    work: (run, record) => releaseUnconfirmed(run, { site: run.visit.site.id, app: run.app.id }, record),
  },
  {
    as: 'lapsed',
    age: confirmationTimes.kept,
    work: (run, record) => deleteRecord(run, workingBlock(run, record), record),
    // Who has entered an address need not be its owner: it does not stay longer than is promised.
    otherwise: (run, record) => deleteRecord(run, null, record),
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
    for (const { site, appId } of await all.sites.watched(['confirm'])) {
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

  /** The records of a place that are old enough. One that came into its block later than it was made stands among older ones. */
  async function endAll(all: Services, site: Site, app: App, end: End): Promise<void> {
    const { as, age } = end;
    const key = { site: site.id, app: app.id };
    const place = unconfirmedPlace(as);
    const seen = new Set<string>();
    let young = 0;
    for (let offset = 0; !isEnded && young < MAX_YOUNG; ) {
      const { records } = await all.store.search(key, app.indexes, { place, limit: PAGE, offset });
      for (const record of records) {
        const isYoung = waitsFor(record) < age;
        young = isYoung ? young + 1 : 0;
        // One that was dealt with and is still there is left until the next look.
        if (isYoung || seen.has(record.id)) offset += 1;
        else await endOne(all, site, app, record, end).catch(report(` of ${app.id}`));
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
  record: StoredRecord,
  { work, otherwise }: End,
): Promise<void> {
  try {
    await workOnce(all, site, app, record, work);
  } catch (error) {
    if (!otherwise || !isRefused(error)) throw error;
    all.logger.warn(
      `[apps] the unconfirmed record "${record.id}" of ${app.id} is deleted without its on_delete: ${error}`,
    );
    await workOnce(all, site, app, record, otherwise);
  }
}

const isRefused = (error: unknown): boolean => error instanceof FormRefusal || isBlockFailure(error);

async function workOnce(all: Services, site: Site, app: App, { id }: StoredRecord, work: Work): Promise<void> {
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

/** Milliseconds between two looks at the files of apps. */
const LOOK_AT_LISTS = 5_000;

/** Gives places to those who wait when a definition has got more of them, and at the start. */
export interface WaitingLists {
  start(): void;
  /** Looks at once. */
  look(): Promise<void>;
  destroy(): Promise<void>;
}

/**
 * Watches the definitions of blocks with waiting lists: a request that frees a place gives it away itself, but a larger limit comes
 * without one. @param services called at each use
 */
export function createWaitingLists(services: () => CallServices & { sites: Sites }): WaitingLists {
  const seen = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isEnded = false;

  const lookAt = async (site: Site, appId: string): Promise<void> => {
    const all = services();
    const name = JSON.stringify([site.id, appId]);
    const revision = await all.sites.revision(site, appId);
    if (revision === null || seen.get(name) === revision) return;
    const app = await all.loadApp(site, appId);
    if (app && !app.error && hasWaitingList(app)) await settleApp(all, site, app);
    seen.set(name, revision);
  };

  const look = async (): Promise<void> => {
    const { sites, logger } = services();
    for (const { site, appId } of await sites.watched(['waiting_list'])) {
      if (isEnded) return;
      await lookAt(site, appId).catch((error: unknown) => {
        logger.error(`[apps] waiting lists of ${appId}: ${String(error)}`);
      });
    }
  };

  const keepLooking = async (): Promise<void> => {
    await look().catch((error: unknown) => services().logger.error(`[apps] waiting lists: ${String(error)}`));
    if (!isEnded) timer = setTimeout(() => void begin(), LOOK_AT_LISTS).unref();
  };
  const begin = (): Promise<void> => {
    running = keepLooking();
    return running;
  };

  return {
    start: () => void begin(),
    look,
    async destroy() {
      isEnded = true;
      clearTimeout(timer);
      await running;
    },
  };
}

const hasWaitingList = ({ blocks }: App): boolean =>
  [...blocks.values()].some(({ definition, error }) => error === null && definition.places?.waitingList);

/** Moves up those who wait in an app, without a requester. */
async function settleApp(all: CallServices & { sites: Sites }, site: Site, app: App): Promise<void> {
  const requester = await all.requesters.anonymous();
  const content = await all.sites.content.resolve(site, '', requester);
  if (!content) return;
  const address = all.sites.urls.app(site, app.id);
  const visit = callVisit(all, { site, content, requester, address, params: {}, through: 'logic' });
  await withRun(all, visit, app, moveUpAll);
}
