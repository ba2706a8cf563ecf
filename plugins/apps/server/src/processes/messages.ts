import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { MessageReceiver, Messages, ProcessMessage, Signals } from './types';

const CHANGE = 'plugin::apps.change';

/** Milliseconds for which messages are kept; between two looks for those of others, without signals; and of looks after the last listener. */
export const MESSAGE_LIFETIME = 60_000;
const POLL = 1_000;
const LINGER = 10_000;

/** Rows that are read again by each poll: a row with a lower id may be committed later. */
const OVERLAP = 100;

/** Rows that the first poll reads. */
const MAX_FIRST = 1_000;

/** A row of `apps_changes`. */
export interface MessageRow {
  id: number;
  origin: string;
  tokens: string;
  /** JSON of what is said, with `at`; null in rows of an earlier version of the plugin. */
  records: string | null;
}

export interface MessagesOptions {
  strapi: Core.Strapi;
  /** Inserts a row. One follows each commit: Strapi's queries would take longer for it than the commit. */
  insert(row: Omit<MessageRow, 'id'>): Promise<void>;
  signals: Pick<Signals, 'send' | 'on'>;
  origin: string;
  report(error: unknown): void;
}

/** Messages are rows, so that none is lost where a signal is; a signal makes a process look at once, which else looks each second. */
export function createMessages({ strapi, insert, signals, origin, report }: MessagesOptions): Messages {
  const outside = AsyncLocalStorage.snapshot();
  const rows = () => strapi.db.query(CHANGE);
  const receivers: MessageReceiver[] = [];
  let pruning: NodeJS.Timeout | undefined;
  let pollTimer: NodeJS.Timeout | undefined;
  let listeners = 0;
  let leftAt = 0;
  let isPolling = false;
  /** Whether there was a signal during a poll. */
  let isWoken = false;
  /** Ids of the rows that the last poll has found; undefined before the first. */
  let seen: Set<number> | undefined;
  let last = 0;
  let first = settling();
  /** Whether the last poll has failed: one line of the log says it, also where many fail. */
  let hasFailed = false;
  let isDestroyed = false;

  const receive = (message: ProcessMessage, isOld: boolean) => {
    for (const receiver of receivers) receiver.receive(message, isOld);
  };
  const knowsSince = (at: number) => {
    for (const receiver of receivers) receiver.knowsSince?.(at);
  };

  /** Rows have items of records: they are deleted also when nothing more happens. */
  function pruneLater(time = MESSAGE_LIFETIME): void {
    if (isDestroyed) return;
    pruning ??= setTimeout(() => prune().catch(report), time + POLL).unref();
  }

  async function prune(): Promise<void> {
    pruning = undefined;
    await rows().deleteMany({ where: { createdAt: { $lt: new Date(Date.now() - MESSAGE_LIFETIME) } } });
    const oldest = await rows().findOne({ where: { origin }, orderBy: { createdAt: 'asc' } });
    if (oldest) pruneLater(Math.max(0, new Date(oldest.createdAt).getTime() + MESSAGE_LIFETIME - Date.now()));
  }

  async function poll(): Promise<void> {
    const known = seen;
    if (!known) return begin();
    last = Math.max(last, ...known);
    const where = { id: { $gt: last - OVERLAP }, origin: { $ne: origin } };
    // Without their texts, which may be long: most rows are known already.
    const found: Pick<MessageRow, 'id'>[] = await rows().findMany({ select: ['id'], where });
    const fresh = found.map(({ id }) => id).filter((id) => !known.has(id));
    const news: MessageRow[] =
      fresh.length > 0 ? await rows().findMany({ where: { id: { $in: fresh } }, orderBy: { id: 'asc' } }) : [];
    seen = new Set(found.map(({ id }) => id));
    for (const row of news) receive(messageOf(row), false);
  }

  /** What the others have written during the last minute is known afterwards. */
  async function begin(): Promise<void> {
    const now = Date.now();
    const where = { origin: { $ne: origin } };
    const found: MessageRow[] = await rows().findMany({ where, orderBy: { id: 'desc' }, limit: MAX_FIRST });
    seen = new Set(found.map((row) => row.id));
    const messages = found.map(messageOf).reverse();
    for (const one of messages) if (one.at > now - MESSAGE_LIFETIME) receive(one, true);
    const [oldest] = messages;
    knowsSince(
      found.length < MAX_FIRST || !oldest ? now - MESSAGE_LIFETIME : Math.max(oldest.at, now - MESSAGE_LIFETIME),
    );
    pruneLater();
  }

  const read = () => {
    hasFailed = false;
    first.done();
  };

  /** Until there has been no listener for a while: what it has missed afterwards is read again by the next first poll. */
  async function keepPolling(): Promise<void> {
    pollTimer = undefined;
    isWoken = false;
    await poll().then(read, (error) => {
      if (!hasFailed) report(error);
      hasFailed = true;
    });
    if (isDestroyed) return;
    if (listeners === 0 && Date.now() - leftAt >= LINGER) {
      isPolling = false;
      seen = undefined;
      first = settling();
      return knowsSince(Number.POSITIVE_INFINITY);
    }
    pollTimer = setTimeout(keepPolling, isWoken ? 0 : POLL).unref();
  }

  signals.on('changes', () => {
    isWoken = true;
    if (!pollTimer || isDestroyed) return;
    clearTimeout(pollTimer);
    outside(keepPolling);
  });

  return {
    origin,
    async write({ at, tokens, said }) {
      await insert({ origin, tokens: JSON.stringify(tokens), records: JSON.stringify({ at, ...said }) });
      signals.send('changes');
      pruneLater();
    },
    subscribe: (receiver) => void receivers.push(receiver),
    listen() {
      listeners += 1;
      if (!isPolling && !isDestroyed) {
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
    destroy() {
      isDestroyed = true;
      listeners = 0;
      for (const timer of [pruning, pollTimer]) clearTimeout(timer);
    },
  };
}

function messageOf({ origin, tokens, records }: MessageRow): ProcessMessage {
  const said = records ? (JSON.parse(records) as { at: number } & Record<string, unknown>) : null;
  return { at: said?.at ?? Date.now(), origin, tokens: JSON.parse(tokens) as string[], said };
}

function settling(): { promise: Promise<void>; done: () => void } {
  let done = () => {};
  const promise = new Promise<void>((resolve) => {
    done = resolve;
  });
  return { promise, done };
}
