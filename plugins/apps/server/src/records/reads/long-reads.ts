import { AppsError, unavailable } from '../../common/errors';
import type { HostDatabase, LongReads } from '../../indexes';
import type { ReadEnd } from '../../indexes/types';
import { createSemaphore, type Workers } from '../../workers';
import { serverReads } from './server-reads';
import { sqliteReads } from './sqlite-reads';

export interface LongReadsOptions {
  database: HostDatabase;
  /** Milliseconds that one statement may run, and that it may wait before that. */
  time: number;
  /** Statements that run at the same time. */
  slots: number;
  /** Processes that read a SQLite file; without them it is read on the calling thread. */
  workers?: Workers | undefined;
  /** Called with the milliseconds that a statement has waited for its turn. */
  waited?: ((time: number) => void) | undefined;
}

/** How long one statement may take (ms), and the signal that ends it earlier. */
export interface StatementLimits {
  time: number;
  signal: AbortSignal;
}

/** Statements that may wait, for each one that may run. */
const MAX_QUEUE_FACTOR = 8;

/**
 * Long reads of the host's database (docs/decisions/long-reads.md): on PostgreSQL and MySQL over separate connections with
 * a time limit; on SQLite in processes that can be ended.
 */
export function createLongReads(options: LongReadsOptions): LongReads {
  const { database, time, slots, waited = () => {} } = options;
  const busy = () => unavailable('The server is busy with other searches, try again soon', 2);
  const semaphore = createSemaphore({ permits: slots, queue: slots * MAX_QUEUE_FACTOR, timeout: time, busy, waited });
  const reads = database.client === 'sqlite' ? sqliteReads(options, semaphore) : serverReads(options, semaphore);
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

/** One signal for every reason to end a read early, and how long (ms) it may take at most. */
function ending({ signal, time = Number.POSITIVE_INFINITY }: ReadEnd, maxTime: number) {
  const controller = new AbortController();
  const stop = (message: string) => controller.abort(new AppsError('ServiceUnavailableError', message));
  const leave = () => stop('The request was ended');
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  // The statement's own time counts from its begin; this timer is for an earlier end.
  const timer = Number.isFinite(time) ? setTimeout(() => stop('The time of the request is over'), time) : undefined;
  const release = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  };
  return { signal: controller.signal, left: Math.max(1, Math.min(maxTime, Math.ceil(time))), release };
}
