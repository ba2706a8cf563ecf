import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../log';

const CHANGE = 'plugin::apps.change';

/** Milliseconds: how long changes are gathered before they are written, how often they are looked for, how long kept. */
const times = { gather: 100, look: 1_000, keep: 60_000 };

/** Rows that are looked at again: one with a lower id may be committed later. */
const OVERLAP = 100;

/** Tokens of one row, at most: a larger change is rare, and only makes pages look again that need not. */
const MAX_TOKENS = 500;

interface Row {
  id: number;
  origin: string;
  tokens: string;
}

/** Tells every server process on the same database what has changed. */
export interface ChangeLog {
  /** For all other processes; writes them down soon, outside of whatever transaction is open. */
  write(tokens: Iterable<string>): void;
  /** Begins to look for what others write, until the returned function is called. */
  listen(): () => void;
  destroy(): void;
}

/** @param options.hear told of what other processes have written */
export function createChangeLog({
  strapi,
  logger,
  hear,
}: {
  strapi: Core.Strapi;
  logger: Logger;
  hear: (tokens: string[]) => void;
}): ChangeLog {
  const origin = randomUUID();
  const outside = AsyncLocalStorage.snapshot();
  const rows = () => strapi.db.query(CHANGE);
  let gathered = new Set<string>();
  let writing: NodeJS.Timeout | undefined;
  let looking: NodeJS.Timeout | undefined;
  let listeners = 0;
  /** Ids of the rows that the last look has found; undefined before the first. */
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

  /** The first look only learns what is there already. */
  async function look(): Promise<void> {
    const newest: Row | null = seen ? null : await rows().findOne({ orderBy: { id: 'desc' } });
    const last = seen ? Math.max(0, ...seen) : (newest?.id ?? 0);
    const found: Row[] = await rows().findMany({ where: { id: { $gt: last - OVERLAP } }, orderBy: { id: 'asc' } });
    const known = seen;
    seen = new Set(found.map((row) => row.id));
    const news = known ? found.filter((row) => row.origin !== origin && !known.has(row.id)) : [];
    for (const row of news) hear(JSON.parse(row.tokens) as string[]);
  }

  async function keepLooking(): Promise<void> {
    await look().catch(report);
    if (listeners === 0) return;
    looking = setTimeout(keepLooking, times.look);
    looking.unref();
  }

  return {
    write(tokens) {
      for (const token of tokens) gathered.add(token);
      if (gathered.size === 0) return;
      writing ??= outside(() => setTimeout(() => flush().catch(report), times.gather).unref());
    },
    listen() {
      listeners += 1;
      if (listeners === 1) {
        clearTimeout(looking);
        seen = undefined;
        outside(keepLooking);
      }
      return () => {
        listeners -= 1;
        if (listeners === 0) clearTimeout(looking);
      };
    },
    destroy() {
      listeners = 0;
      clearTimeout(writing);
      clearTimeout(looking);
    },
  };
}
