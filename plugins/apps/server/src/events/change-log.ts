import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';

const CHANGE = 'plugin::apps.change';

/** Milliseconds: how long changes are gathered before they are written, how often rows are polled, how long they are kept. */
const times = { gather: 100, poll: 1_000, keep: 60_000 };

/** Rows that are read again by each poll: a row with a lower id may be committed later. */
const OVERLAP = 100;

/** Tokens of one row; more are split over several rows. */
const MAX_TOKENS = 500;

interface Row {
  id: number;
  origin: string;
  tokens: string;
}

/** Publishes changes to every server process on the same database. */
export interface ChangeLog {
  /** Publishes tokens to the other processes; they are written soon, outside of any open transaction. */
  write(tokens: Iterable<string>): void;
  /** Polls for rows of other processes until the returned function is called. */
  listen(): () => void;
  destroy(): void;
}

/** @param options.receive called with the tokens of other processes */
export function createChangeLog({
  strapi,
  logger,
  receive,
}: {
  strapi: Core.Strapi;
  logger: Logger;
  receive: (tokens: string[]) => void;
}): ChangeLog {
  const origin = randomUUID();
  const outside = AsyncLocalStorage.snapshot();
  const rows = () => strapi.db.query(CHANGE);
  let gathered = new Set<string>();
  let writing: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let listeners = 0;
  let polling = false;
  /** Ids of the rows that the last poll has found; undefined before the first. */
  let seen: Set<number> | undefined;
  let prunedAt = 0;

  const report = (error: unknown) => logger.warn(`[apps] live fragments: ${(error as Error).message}`);

  async function flush(): Promise<void> {
    writing = undefined;
    const tokens = [...gathered];
    gathered = new Set();
    for (let start = 0; start < tokens.length; start += MAX_TOKENS) {
      const data = { origin, tokens: JSON.stringify(tokens.slice(start, start + MAX_TOKENS)) };
      await rows().create({ data });
    }
    if (Date.now() - prunedAt < times.keep) return;
    prunedAt = Date.now();
    await rows().deleteMany({ where: { createdAt: { $lt: new Date(Date.now() - times.keep) } } });
  }

  /** The first poll only learns which rows exist already. */
  async function poll(): Promise<void> {
    const newest: Row | null = seen ? null : await rows().findOne({ orderBy: { id: 'desc' } });
    const last = seen ? Math.max(0, ...seen) : (newest?.id ?? 0);
    const found: Row[] = await rows().findMany({ where: { id: { $gt: last - OVERLAP } }, orderBy: { id: 'asc' } });
    const known = seen;
    seen = new Set(found.map((row) => row.id));
    const news = known ? found.filter((row) => row.origin !== origin && !known.has(row.id)) : [];
    for (const row of news) receive(JSON.parse(row.tokens) as string[]);
  }

  async function keepPolling(): Promise<void> {
    polling = true;
    await poll().catch(report);
    polling = false;
    if (listeners === 0) return;
    pollTimer = setTimeout(keepPolling, times.poll);
    pollTimer.unref();
  }

  return {
    write(tokens) {
      for (const token of tokens) gathered.add(token);
      if (gathered.size === 0) return;
      writing ??= outside(() => setTimeout(() => flush().catch(report), times.gather).unref());
    },
    listen() {
      listeners += 1;
      // A poll that is under way goes on for the new listener.
      if (listeners === 1 && !polling) {
        seen = undefined;
        outside(keepPolling);
      }
      return () => {
        listeners -= 1;
        if (listeners === 0) clearTimeout(pollTimer);
      };
    },
    destroy() {
      listeners = 0;
      clearTimeout(writing);
      clearTimeout(pollTimer);
    },
  };
}
