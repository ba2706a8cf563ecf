import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import { settledOrTimeout } from '../../common/time/coalesce';
import type { IndexDeclarations } from '../../indexes/types';
import type { AppKey } from '../../records/types';
import { KEPT } from './connections';
import { type AppChanges, joined, type Publication, projected } from './publish-changes';

const CHANGE = 'plugin::apps.change';

/** Milliseconds: how long changes are gathered before they are written, how often rows are polled, and how long for no listener. */
const times = { gather: 100, poll: 1_000, linger: 10_000 };

/** Rows that are read again by each poll: a row with a lower id may be committed later. */
const OVERLAP = 100;

/** Rows that the first poll reads. */
const MAX_FIRST = 1_000;

/** Tokens of one row; more are split over several rows. */
const MAX_TOKENS = 500;

/** Changed records of one app that are gathered; more count as any record of the app. */
const MAX_RECORDS = 200;

interface Row {
  id: number;
  origin: string;
  tokens: string;
  /** JSON of Written; null in rows of an earlier version of the plugin. */
  records: string | null;
}

interface Written {
  at: number;
  apps: Record<string, AppChanges>;
}

/** Publishes changes to every server process on the same database. */
export interface ChangeLog {
  /**
   * Publishes to the other processes; it is written soon, outside of any open transaction.
   * @param keys the apps by the tokens of their changes
   */
  write(publication: Publication, keys: ReadonlyMap<string, AppKey>): void;
  /** Polls for rows of other processes until the returned function is called; `ready` resolves after the first poll. */
  listen(): { ready: Promise<void>; stop: () => void };
  /** Writes what waits, and ends. */
  destroy(): Promise<void>;
}

export interface ChangeLogOptions {
  strapi: Core.Strapi;
  report(error: unknown): void;
  /** Names this process: 8 characters. */
  origin: string;
  /** Gives the current indexes of an app; null where there is no such app. */
  declared(key: AppKey): Promise<IndexDeclarations | null>;
  /** Called with the publications of other processes; `isOld`: that were made before this one has listened. */
  receive(publication: Publication, isOld: boolean): void;
  /** Called with the time since when publications of others are known; Infinity when it listens no longer. */
  knowsSince(at: number): void;
}

interface Gathered {
  at: number;
  tokens: Set<string>;
  apps: Map<string, { key: AppKey; changes: AppChanges }>;
}

const nothing = (): Gathered => ({ at: 0, tokens: new Set(), apps: new Map() });

export function createChangeLog(options: ChangeLogOptions): ChangeLog {
  const { strapi, report, origin, declared, receive, knowsSince } = options;
  const outside = AsyncLocalStorage.snapshot();
  const rows = () => strapi.db.query(CHANGE);
  let gathered = nothing();
  let writing: NodeJS.Timeout | undefined;
  let pruning: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let listeners = 0;
  let leftAt = 0;
  let isPolling = false;
  /** Ids of the rows that the last poll has found; undefined before the first. */
  let seen: Set<number> | undefined;
  let last = 0;
  let first = settling();
  let isDestroyed = false;

  /** What could not be written is written later; then without records, so that what waits stays small. */
  async function flush(): Promise<void> {
    writing = undefined;
    const writes = gathered;
    gathered = nothing();
    try {
      await write(writes);
    } catch (error) {
      report(error);
      for (const token of writes.tokens) gathered.tokens.add(token);
      for (const [token, { key }] of writes.apps) gathered.apps.set(token, { key, changes: null });
      gathered.at = Math.max(gathered.at, writes.at);
      if (!isDestroyed) writing ??= setTimeout(flush, times.poll).unref();
    }
  }

  async function write({ at, tokens, apps }: Gathered): Promise<void> {
    const said: Written = { at, apps: {} };
    for (const [token, { key, changes }] of apps)
      said.apps[token] = projected(changes, await declared(key).catch(() => null));
    const unsaid = Object.fromEntries(Object.entries(said.apps).filter(([, changes]) => !changes));
    const all = [...tokens];
    for (let start = 0; start < Math.max(1, all.length); start += MAX_TOKENS) {
      const records = JSON.stringify(start === 0 ? said : { at, apps: unsaid });
      await rows().create({ data: { origin, tokens: JSON.stringify(all.slice(start, start + MAX_TOKENS)), records } });
    }
    pruneLater();
  }

  /** Rows have items of records: they are deleted also when nothing more happens. */
  function pruneLater(time = KEPT): void {
    if (isDestroyed) return;
    pruning ??= setTimeout(() => prune().catch(report), time + times.poll).unref();
  }

  async function prune(): Promise<void> {
    pruning = undefined;
    await rows().deleteMany({ where: { createdAt: { $lt: new Date(Date.now() - KEPT) } } });
    const oldest = await rows().findOne({ where: { origin }, orderBy: { createdAt: 'asc' } });
    if (oldest) pruneLater(Math.max(0, new Date(oldest.createdAt).getTime() + KEPT - Date.now()));
  }

  async function poll(): Promise<void> {
    const known = seen;
    if (!known) return begin();
    last = Math.max(last, ...known);
    const where = { id: { $gt: last - OVERLAP }, origin: { $ne: origin } };
    // Without their texts, which may be long: most rows are known already.
    const found: Pick<Row, 'id'>[] = await rows().findMany({ select: ['id'], where });
    const fresh = found.map(({ id }) => id).filter((id) => !known.has(id));
    const news: Row[] =
      fresh.length > 0 ? await rows().findMany({ where: { id: { $in: fresh } }, orderBy: { id: 'asc' } }) : [];
    seen = new Set(found.map(({ id }) => id));
    for (const row of news) receive(publicationOf(row), false);
  }

  /** What the others have published during the last minute is known afterwards. */
  async function begin(): Promise<void> {
    const now = Date.now();
    const where = { origin: { $ne: origin } };
    const found: Row[] = await rows().findMany({ where, orderBy: { id: 'desc' }, limit: MAX_FIRST });
    seen = new Set(found.map((row) => row.id));
    const publications = found.map(publicationOf).reverse();
    for (const one of publications) if (one.at > now - KEPT) receive(one, true);
    const [oldest] = publications;
    knowsSince(found.length < MAX_FIRST || !oldest ? now - KEPT : Math.max(oldest.at, now - KEPT));
    pruneLater();
  }

  /** Until there has been no listener for a while: what it has missed afterwards is read again by the next first poll. */
  async function keepPolling(): Promise<void> {
    await poll().then(first.done, report);
    if (isDestroyed) return;
    if (listeners === 0 && Date.now() - leftAt >= times.linger) {
      isPolling = false;
      seen = undefined;
      first = settling();
      return knowsSince(Number.POSITIVE_INFINITY);
    }
    pollTimer = setTimeout(keepPolling, times.poll);
    pollTimer.unref();
  }

  return {
    write({ at, tokens, apps }, keys) {
      gathered.at = at;
      for (const token of tokens) gathered.tokens.add(token);
      for (const [token, changes] of apps ?? []) {
        const key = keys.get(token) as AppKey;
        const known = gathered.apps.get(token);
        gathered.apps.set(token, { key, changes: joined(known?.changes, changes, MAX_RECORDS) });
      }
      writing ??= outside(() => setTimeout(flush, times.gather).unref());
    },
    listen() {
      listeners += 1;
      if (!isPolling) {
        isPolling = true;
        outside(keepPolling);
      }
      return {
        ready: first.promise,
        stop() {
          listeners -= 1;
          leftAt = Date.now();
        },
      };
    },
    async destroy() {
      isDestroyed = true;
      listeners = 0;
      const isWaiting = writing !== undefined;
      for (const timer of [writing, pruning, pollTimer]) clearTimeout(timer);
      // Without a database it would wait for long.
      if (isWaiting) await settledOrTimeout(flush());
    },
  };
}

function publicationOf({ origin, tokens, records }: Row): Publication {
  const written = records ? (JSON.parse(records) as Written) : null;
  return {
    at: written?.at ?? Date.now(),
    origin,
    tokens: JSON.parse(tokens) as string[],
    apps: written ? new Map(Object.entries(written.apps)) : undefined,
  };
}

function settling(): { promise: Promise<void>; done: () => void } {
  let done = () => {};
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { promise, done };
}
