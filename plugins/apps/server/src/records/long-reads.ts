import { AppsError } from '../errors';
import type { HostDatabase, LongReads } from '../indexes';
import type { ReadEnd } from '../indexes/types';
import type { Workers } from '../workers';
import { createGate } from './gate';
import { serverReads } from './server-reads';
import { sqliteReads } from './sqlite-reads';

export interface LongReadsOptions {
  database: HostDatabase;
  /** Milliseconds that one statement may take, and that it may wait before. */
  time: number;
  /** Statements at once. */
  places: number;
  /** Processes that read a SQLite file; without them it is read on the calling thread. */
  workers?: Workers | undefined;
}

/** Runs a statement outside of a transaction, with a place of its own; ends it when the signal is aborted. */
export interface Place {
  time: number;
  signal: AbortSignal;
}

/** Statements that wait, for each one that may run. */
const queueFactor = 8;

/**
 * Long readings of the host's database (docs/decisions/long-reads.md): on PostgreSQL and MySQL over connections of their own,
 * which have a time limit; on SQLite in processes that can be ended.
 */
export function createLongReads(options: LongReadsOptions): LongReads {
  const { database, time, places } = options;
  const gate = createGate({ places, queue: places * queueFactor, patience: time });
  const reads = database.client === 'sqlite' ? sqliteReads(options, gate) : serverReads(options, gate);
  return {
    searchTime: 2 * time,
    async read(statement, trx, end) {
      const { signal, left, release } = ending(end, time);
      try {
        signal.throwIfAborted();
        return await reads.read(statement, trx, { signal, time: left });
      } finally {
        release();
      }
    },
    destroy: reads.destroy,
  };
}

/** One signal for whatever ends a reading early, and how long (ms) it may take at most. */
function ending({ signal, time = Number.POSITIVE_INFINITY }: ReadEnd, most: number) {
  const controller = new AbortController();
  const stop = (message: string) => controller.abort(new AppsError('ServiceUnavailableError', message));
  const leave = () => stop('The request was ended');
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  // Only an end that comes before the statement's own, which counts from when the statement begins.
  const timer = Number.isFinite(time) ? setTimeout(() => stop('The time of the request is over'), time) : undefined;
  const release = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  };
  return { signal: controller.signal, left: Math.max(1, Math.min(most, Math.ceil(time))), release };
}
