import type { Knex } from 'knex';
import type { ServerSession } from './types';

interface PostgresClient {
  readonly config: Knex.Config;
  acquireRawConnection(): Promise<ServerSession & { readonly processID?: unknown }>;
}

type ClientClass = new (config: Knex.Config) => PostgresClient;

/** Sessions of a PostgreSQL server: what one statement leaves in them, such as `listen`, holds for the next. */
export interface ServerSessions {
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
  const client = () => knex().client as PostgresClient;
  /** Knex's client keeps no connection besides the raw ones that it is asked for. */
  const directClient = () => {
    const host = client();
    const connection = { connectionString: direct } as Knex.PgConnectionConfig;
    return new (host.constructor as ClientClass)({ ...host.config, connection });
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
