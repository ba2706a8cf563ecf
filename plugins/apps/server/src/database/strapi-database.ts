import type { Knex } from 'knex';
import { withoutPauses } from '../common/time/pace';
import type { Workers } from '../workers';
import { CommitFailed, createCommitMarks, type OwnCommitMarks } from './commit-marks';
import { type Client, dialects, type Row } from './dialects';
import { createServerSessions, postgresStatements } from './postgres';
import { createReadConnection } from './read-connection';
import { createSql, readerOf } from './sql';
import { createLog, sqliteTransactions } from './sqlite';
import type { HostDatabase } from './types';

/** Milliseconds for which a process may copy SQLite's write-ahead log. */
const COPY_TIME = 10_000;

/** A connection of Knex's pool; one with this mark is discarded instead of used. */
interface NewConnection {
  __knex__disposed?: unknown;
}

/** The part of `strapi.db` that is used here. */
export interface StrapiDb {
  connection: Knex;
  dialect: { client: string; initialize?(connection: NewConnection): Promise<void> };
  inTransaction(): boolean;
  transaction(): Promise<{ get(): Knex.Transaction }>;
  transaction<T>(work: (tools: { trx: Knex.Transaction }) => Promise<T>): Promise<T>;
}

/**
 * Strapi prepares a new connection without handling a failure: a PostgreSQL server that goes away during these
 * statements would end the process by an unhandled rejection.
 */
function surviveLostConnections({ dialect }: StrapiDb): void {
  const initialize = dialect.initialize?.bind(dialect);
  if (!initialize) return;
  dialect.initialize = (connection) =>
    initialize(connection).catch((error) => {
      connection.__knex__disposed ??= error;
    });
}

/**
 * The host's database for the record store; transactions are Strapi's own, so that its services join them.
 * @param workers processes with the task `copySqliteLog`
 * @param directConnection address of the PostgreSQL server behind a pooler, for what needs a session of its own
 * @param report gets a line of the log for each commit whose answer was lost
 */
export function strapiDatabase(
  db: StrapiDb,
  workers?: Pick<Workers, 'run'>,
  directConnection: string | null = null,
  report: (line: string) => void = () => {},
): HostDatabase {
  surviveLostConnections(db);
  const client = db.dialect.client as Client;
  const reading = client === 'sqlite' ? createReadConnection(() => db.connection) : undefined;
  const sessions = client === 'postgres' ? createServerSessions(() => db.connection, directConnection) : undefined;
  const direct = sessions && postgresStatements(() => db.connection, sessions.arePooled);
  const log = createLog(
    workers &&
      (async () => {
        const file = reading?.connection()?.file;
        if (file) await workers.run('copySqliteLog', file, { time: COPY_TIME, group: 'log' });
      }),
  );
  const file = client === 'sqlite' ? sqliteTransactions(() => db.connection, log) : undefined;
  const marks = file
    ? undefined
    : createCommitMarks(() => direct?.reader ?? db.connection, dialects[client], { report });
  const certain: OwnCommitMarks['certain'] = (transact) => marks?.certain(transact) ?? transact;
  const transactNow: HostDatabase['transaction'] = async (work) => {
    let end: Promise<unknown> | undefined;
    const result = await db.transaction(({ trx }) => {
      end = trx.executionPromise;
      end.catch(() => undefined);
      return work(trx);
    });
    // Knex resolves `commit()` even when COMMIT failed: only this promise rejects then.
    await end?.catch((error) => {
      throw marks ? new CommitFailed(error) : error;
    });
    return result;
  };
  const transact = certain(transactNow);
  const transaction: HostDatabase['transaction'] = (work) =>
    db.inTransaction() ? db.transaction(({ trx }) => work(trx)) : transact(work);
  const write = file?.write ?? (direct && certain(direct.write));
  return {
    client,
    knex: () => db.connection,
    readConnection: reading?.connection,
    reader: direct?.reader,
    ...(file && { dataVersion: file.dataVersion, mayLag: file.mayLag }),
    settled: log.copied,
    marks,
    close: reading?.close,
    ...(sessions && { openSession: sessions.open }),
    // Within a transaction, asking for another one gives the current one.
    current: () => (db.inTransaction() ? db.transaction().then((tools) => tools.get()) : undefined),
    transaction,
    write: (work) => (write && !db.inTransaction() ? withoutPauses(() => write(work)) : transaction(work)),
  };
}

/**
 * Runs statements with `?` for their values: in the transaction that the caller is in, else where records are read. Errors are
 * those of Sql.
 */
export function statementsOf(database: HostDatabase): (sql: string, values: readonly unknown[]) => Promise<Row[]> {
  const dialect = dialects[database.client];
  return async (sql, values) => {
    const trx = database.current();
    return createSql(trx ? await trx : readerOf(database), dialect).rows(sql, values);
  };
}
