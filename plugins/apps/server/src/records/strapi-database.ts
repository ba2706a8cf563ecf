import type { Knex } from 'knex';
import type { Client, HostDatabase } from './database';
import { createNearReader } from './near';

/** What is used of `strapi.db`. */
export interface StrapiDb {
  connection: Knex;
  dialect: { client: string };
  inTransaction(): boolean;
  transaction(): Promise<{ get(): Knex.Transaction }>;
  transaction<T>(work: (tools: { trx: Knex.Transaction }) => Promise<T>): Promise<T>;
}

/** The host's database as the record store wants it; transactions are Strapi's own, so that its services join them. */
export function strapiDatabase(db: StrapiDb): HostDatabase {
  const client = db.dialect.client as Client;
  const near = client === 'sqlite' ? createNearReader(() => db.connection) : undefined;
  return {
    client,
    knex: () => db.connection,
    near: near?.reader,
    close: near?.close,
    // Within a transaction, asking for another one gives the current one.
    current: async () => (db.inTransaction() ? (await db.transaction()).get() : undefined),
    async transaction(work) {
      if (db.inTransaction()) return db.transaction(({ trx }) => work(trx));
      let end: Promise<unknown> | undefined;
      const result = await db.transaction(({ trx }) => {
        end = trx.executionPromise;
        end.catch(() => undefined);
        return work(trx);
      });
      // Knex resolves `commit()` even when COMMIT failed: only this promise tells what became of it.
      await end;
      return result;
    },
  };
}
