import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Logger } from '../common/log';

/** Milliseconds that a process waits for those that start before it, and between two looks whether one has started. */
export const MAX_WAIT = 300_000;
const LOOK = 100;

/** Milliseconds between two looks whether this host has started. */
const LOOK_AT_HOST = 10;

/** The part of a Knex client that is used here: a connection of its own, besides the pool. */
interface Client {
  acquireRawConnection(): Promise<object>;
  destroyRawConnection(connection: object): Promise<unknown>;
}

/** The part of Strapi that is used here. */
interface StartingHost {
  readonly db: { readonly connection: Knex; readonly dialect: { readonly client: string } };
  readonly isLoaded: boolean;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Statements that take the lock on one connection if it is free, by database: the last one says so as `got`. `undo` follows where
 * it is not: a process that waits in PostgreSQL would hold a session of a pooler, which the process before it may need. The lock ends
 * with the connection; PostgreSQL's is one of a transaction, which a pooler leaves its session.
 */
const locks: Record<string, { take: readonly string[]; undo?: string }> = {
  postgres: {
    take: [
      'begin',
      'set local idle_in_transaction_session_timeout = 0',
      "select pg_try_advisory_xact_lock(hashtext('strapi-plugin-apps'), 1) as got",
    ],
    undo: 'rollback',
  },
  // Names are the server's, not the database's, and up to 64 characters.
  mysql: { take: ["select get_lock(concat('apps_start_', md5(database())), 0) as got"] },
};

/**
 * Makes the processes that start at the same moment on one database start one after the other: Strapi creates and changes its tables
 * without a lock. Call it before Strapi does. The lock is given back once the host has started; without a database nothing happens,
 * which Strapi then reports.
 * @returns gives the lock back, for a host that ends before it has started
 */
export async function startAlone(host: StartingHost): Promise<() => void> {
  const { connection: knex, dialect } = host.db;
  const lock = locks[dialect.client];
  if (!lock) return () => {};
  const client = knex.client as Client;
  const connection = await client.acquireRawConnection().catch(() => undefined);
  if (!connection) return () => {};
  let timer: NodeJS.Timeout | undefined;
  const release = () => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    client.destroyRawConnection(connection).catch(() => undefined);
  };
  timer = setInterval(() => host.isLoaded && release(), LOOK_AT_HOST).unref();
  try {
    const ask = (statement: string) => knex.raw(statement).connection(connection);
    await untilTaken(lock, ask);
  } catch (error) {
    host.log.warn(`[apps] other processes that start on this database are not waited for: ${(error as Error).message}`);
    release();
  }
  return release;
}

/** Resolves once the lock is taken. @throws when that takes too long */
async function untilTaken({ take, undo }: (typeof locks)[string], ask: (statement: string) => Knex.Raw): Promise<void> {
  const end = performance.now() + MAX_WAIT;
  while (performance.now() < end) {
    let answer: { rows: { got: unknown }[] } | [{ got: unknown }[]] | undefined;
    for (const statement of take) answer = await ask(statement);
    const [row] = (Array.isArray(answer) ? answer[0] : answer?.rows) ?? [];
    if (Number(row?.got) === 1) return;
    if (undo) await ask(undo);
    await pause(LOOK);
  }
  throw new Error(`one of them has not started within ${MAX_WAIT / 1000} s`);
}
