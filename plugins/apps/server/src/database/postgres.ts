import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { CommitFailed } from './commit-marks';
import type { Reader, ServerSession } from './types';

/** The part of a connection of the driver `pg` that is used here. */
interface PostgresConnection {
  query(query: Query | string, done: (error: Error | null, result: unknown) => void): void;
  /** The driver's own connection, which knows by name what the server has prepared on it. */
  readonly connection?: { parsedStatements?: Record<string, unknown> };
}

interface Query {
  name?: string | undefined;
  text: string;
  values?: readonly unknown[];
}

interface PostgresClient {
  acquireConnection(): Promise<PostgresConnection>;
  releaseConnection(connection: PostgresConnection): Promise<unknown>;
  emit(event: 'query', query: { sql: string; bindings: readonly unknown[] }): void;
  positionBindings(sql: string): string;
}

/**
 * Statements that the server keeps prepared on a connection, and the length of the longest one. A statement is prepared when it comes
 * again within as many: those of many apps in turn would only displace each other, each at the price of two more messages.
 */
const MAX_PREPARED = 100;
const MAX_LENGTH = 4_000;
/** Texts of statements that are remembered. */
const MAX_TEXTS = 1_000;

/**
 * SQLSTATEs of a statement that is not prepared, or is prepared already: a pooler between this process and the server has
 * changed the server's connection.
 */
const notPrepared = new Set(['26000', '42P05']);
/** Where PostgreSQL reports a prepared statement whose columns have another type since; its message is translated. */
const outdated = 'RevalidateCachedQuery';

interface Text {
  text: string;
  name: string;
  /** The number of the statement that last ran it. */
  lastRun: number;
}

/** Statements with `?` for values on connections of Knex's pool, run without Knex. */
interface PostgresStatements {
  /** A connection of the pool for each statement. */
  readonly reader: Reader;
  /**
   * Runs `work` in a transaction; nothing but its connection may be used in it. Rejects with the driver's error after a
   * rollback, with CommitFailed after a COMMIT that has failed.
   */
  write<T>(work: (connection: Reader) => Promise<T>): Promise<T>;
}

/**
 * Statements on the driver: Knex makes some twenty promises for each, and PostgreSQL parses and plans it every time, which
 * takes longer than running it. A statement that comes again is prepared under a name, on each connection that runs it, unless a pooler
 * would let it stay in sessions of others. See docs/decisions/storage-reading.md.
 */
export function postgresStatements(knex: () => Knex, arePooled: () => Promise<boolean>): PostgresStatements {
  const texts = new LRUCache<string, Text>({ max: MAX_TEXTS });
  const prepared = new WeakMap<PostgresConnection, LRUCache<string, true>>();
  /** Undefined until it is known that no pooler is in between. */
  let prepares: boolean | undefined;
  const client = () => knex().client as PostgresClient;

  /** Statements that have been run. */
  let runs = 0;

  const textOf = (sql: string): Text => {
    const known = texts.get(sql);
    if (known) return known;
    const text = client().positionBindings(sql);
    const name = `apps_${createHash('sha1').update(text).digest('hex')}`;
    const made = { text, name, lastRun: Number.NEGATIVE_INFINITY };
    if (sql.length <= MAX_LENGTH) texts.set(sql, made);
    return made;
  };

  /** The name under which a connection has, or gets, the statement; undefined for one that is not prepared. */
  const nameOn = (connection: PostgresConnection, text: Text): string | undefined => {
    const { name, lastRun } = text;
    runs += 1;
    text.lastRun = runs;
    const parsed = connection.connection?.parsedStatements;
    if (!prepares || !parsed) return undefined;
    let names = prepared.get(connection);
    if (names?.get(name)) return name;
    if (runs - lastRun > MAX_PREPARED) return undefined;
    if (!names) {
      const forget = (_: true, old: string) => {
        // A statement that PostgreSQL has refused is not prepared.
        if (parsed[old] === undefined) return;
        delete parsed[old];
        connection.query(`deallocate ${old}`, () => {});
      };
      names = new LRUCache({ max: MAX_PREPARED, dispose: forget });
      prepared.set(connection, names);
    }
    names.set(name, true);
    return name;
  };

  const ask = (connection: PostgresConnection, query: Query): Promise<unknown> =>
    new Promise((resolve, reject) => {
      connection.query(query, (error, result) => (error ? reject(error) : resolve(result)));
    });

  /** @param again runs the statement unprepared when the server does not have it as it was prepared */
  const run = async (
    connection: PostgresConnection,
    sql: string,
    values: readonly unknown[],
    again: boolean,
  ): Promise<unknown> => {
    // Knex reports each query to its listeners in this way.
    client().emit('query', { sql, bindings: values });
    const known = textOf(sql);
    const { text } = known;
    const name = nameOn(connection, known);
    try {
      return await ask(connection, { name, text, values });
    } catch (error) {
      const { code, routine } = error as { code?: unknown; routine?: unknown };
      const isNotPrepared = notPrepared.has(String(code));
      if (name === undefined || !(isNotPrepared || routine === outdated)) throw error;
      if (isNotPrepared) prepares = false;
      else prepared.get(connection)?.delete(name);
      if (!again) throw error;
      return ask(connection, { text, values });
    }
  };

  const learn = async (): Promise<void> => {
    const isPooled = await arePooled().catch(() => undefined);
    if (isPooled !== undefined) prepares ??= !isPooled;
  };

  const using = async <T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> => {
    if (prepares === undefined) void learn();
    const connection = await client().acquireConnection();
    try {
      return await work(connection);
    } finally {
      await client().releaseConnection(connection);
    }
  };

  const command = async (connection: PostgresConnection, text: string): Promise<{ command?: unknown }> => {
    client().emit('query', { sql: text, bindings: [] });
    return (await ask(connection, { text })) as { command?: unknown };
  };

  return {
    reader: { raw: (sql, values) => using((connection) => run(connection, sql, values, true)) },
    write: (work) =>
      using(async (connection) => {
        await command(connection, 'BEGIN;');
        try {
          const result = await work({ raw: (sql, values) => run(connection, sql, values, false) });
          const { command: done } = await command(connection, 'COMMIT;').catch((error) => {
            throw new CommitFailed(error);
          });
          // PostgreSQL answers so, without an error, when a statement has failed.
          if (done === 'ROLLBACK') throw new Error('rolled back');
          return result;
        } catch (error) {
          // A lost connection is discarded by the pool.
          await command(connection, 'ROLLBACK;').catch(() => undefined);
          throw error;
        }
      }),
  };
}

interface SessionClient {
  readonly config: Knex.Config;
  acquireRawConnection(): Promise<ServerSession & { readonly processID?: unknown }>;
}

type SessionClientClass = new (config: Knex.Config) => SessionClient;

/** Sessions of a PostgreSQL server: what one statement leaves in them, such as `listen`, holds for the next. */
interface ServerSessions {
  /**
   * Whether a pooler, such as PgBouncer, is between this process and the server: statements on one connection may then reach
   * different sessions. Rejects with the driver's error when there is no connection.
   */
  arePooled(): Promise<boolean>;
  /** A session of its own, which the caller ends; null where only a pooler can be reached. Rejects with the driver's error. */
  open(): Promise<ServerSession | null>;
}

/**
 * Poolers send connections a process id of their own, the server's is another one.
 * @param direct address of the server itself, for what needs a session (`directConnection` of the configuration)
 */
export function createServerSessions(knex: () => Knex, direct: string | null): ServerSessions {
  let pooled: Promise<boolean> | undefined;
  const client = () => knex().client as SessionClient;
  /** Knex's client keeps no connection besides the raw ones that it is asked for. */
  const directClient = () => {
    const host = client();
    const connection = { connectionString: direct } as Knex.PgConnectionConfig;
    return new (host.constructor as SessionClientClass)({ ...host.config, connection });
  };

  async function look(): Promise<boolean> {
    const session = await client().acquireRawConnection();
    try {
      const { rows } = (await session.query('select pg_backend_pid() as pid')) as { rows: { pid: unknown }[] };
      return rows[0]?.pid !== session.processID;
    } finally {
      await session.end().catch(() => undefined);
    }
  }

  const arePooled = (): Promise<boolean> => {
    pooled ??= look().catch((error) => {
      pooled = undefined;
      throw error;
    });
    return pooled;
  };

  return {
    arePooled,
    async open() {
      if (direct !== null) return directClient().acquireRawConnection();
      return (await arePooled()) ? null : client().acquireRawConnection();
    },
  };
}
