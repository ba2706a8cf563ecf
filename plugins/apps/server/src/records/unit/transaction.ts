import { AsyncLocalStorage } from 'node:async_hooks';
import type { Knex } from 'knex';
import type { HostDatabase } from '../database/database';

/** A transaction that stays open between calls. */
export interface OpenTransaction {
  trx: Knex.Transaction;
  /** Runs `work` in the transaction's asynchronous context: Strapi's services join it. */
  run<T>(work: () => T): T;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/**
 * Opens a transaction that ends by a call. The host's database takes a callback: here it waits for that call, and a
 * snapshot of its asynchronous context lets later calls run inside the transaction.
 */
export function openTransaction(database: HostDatabase): Promise<OpenTransaction> {
  return new Promise((resolve, reject) => {
    let commit: () => void;
    let abandon: (reason: unknown) => void;
    const end = new Promise<void>((ended, failed) => {
      commit = ended;
      abandon = failed;
    });
    const closed = database.transaction((trx) => {
      const snapshot = AsyncLocalStorage.snapshot();
      resolve({
        trx,
        run: (work) => snapshot(work),
        commit() {
          commit();
          return closed;
        },
        async rollback() {
          abandon(new Error('rolled back'));
          await closed.catch(() => undefined);
        },
      });
      return end;
    });
    closed.catch(reject);
  });
}
