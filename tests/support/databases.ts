import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { buildSync } from 'esbuild';
import type { Knex } from 'knex';
import type { Client } from '../../plugins/apps/server/src/database';
import {
  availableClients,
  createTestDatabase,
  type TestAddress,
  wantedClients,
} from '../../plugins/apps/server/src/database/testing/databases';
import type { RecordStore } from '../../plugins/apps/server/src/records';

export type { Client, RecordStore, TestAddress };
export { availableClients, createTestDatabase, wantedClients };

const root = path.resolve(__dirname, '..', '..');

/** Parameters of a function that is sent to a store process. */
export interface StoreTools {
  store: RecordStore;
  knex: Knex;
}

/** A record store on an existing database, in a process of its own: quick to start, and to kill at any moment. */
export interface StoreProcess {
  /** Runs a function in that process; only its source is sent. Rejects when the process ends. */
  run<A extends unknown[], R>(work: (tools: StoreTools, ...args: A) => R, ...args: A): Promise<Awaited<R>>;
  /** SIGKILL: nothing is cleaned up. */
  kill(): Promise<void>;
}

let bundle: string | undefined;

/** The program of a store process, bundled once a test file. */
function program(): string {
  if (bundle) return bundle;
  const folder = path.join(root, '.cache', 'tests');
  mkdirSync(folder, { recursive: true });
  bundle = path.join(folder, `store-process-${process.pid}.cjs`);
  buildSync({
    entryPoints: [path.join(__dirname, 'databases-process.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: ['knex', '@strapi/*'],
    logLevel: 'error',
  });
  return bundle;
}

interface Reply {
  ready?: boolean;
  call?: number;
  result?: unknown;
  error?: { name: string; message: string };
}

/** Starts a record store on the database in another process. */
export async function startStore(address: TestAddress): Promise<StoreProcess> {
  const env = { ...process.env, TEST_ADDRESS: JSON.stringify(address) };
  const child: ChildProcess = fork(program(), { cwd: root, env, silent: true, execArgv: [] });
  const printed: string[] = [];
  child.stderr?.on('data', (text) => printed.push(String(text)));
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  let calls = 0;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.on('message', ({ call, result, error }: Reply) => {
    const pending = call === undefined ? undefined : waiting.get(call);
    if (call === undefined || !pending) return;
    waiting.delete(call);
    if (error) pending.reject(Object.assign(new Error(error.message), error));
    else pending.resolve(result as never);
  });
  ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`The store process has ended. ${printed.join('')}`));
    waiting.clear();
  });
  await new Promise<void>((resolve, reject) => {
    child.on('message', (reply: Reply) => reply.ready && resolve());
    ended.then(() => reject(new Error(`The store process did not start: ${printed.join('')}`)));
  });
  return {
    run: (work, ...args) =>
      new Promise((resolve, reject) => {
        calls += 1;
        waiting.set(calls, { resolve, reject });
        child.send({ call: calls, source: work.toString(), args });
      }),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Counts the sessions of other connections to the database that are not done with what they have been sent. */
const busySessions: Record<Client, string | null> = {
  sqlite: null,
  postgres:
    "select count(*) as busy from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'",
  mysql:
    'select count(*) as busy from information_schema.processlist p left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.id ' +
    "where p.db = database() and p.id <> connection_id() and (p.command <> 'Sleep' or t.trx_id is not null)",
};

/** Waits for the last statements of a killed process: the server completes a COMMIT without its sender. */
export async function settled({ knex, address }: { knex: Knex; address: TestAddress }): Promise<void> {
  const text = busySessions[address.client];
  const busy = async () => {
    const answer = await knex.raw(text as string);
    return Number((address.client === 'postgres' ? answer.rows : answer[0])[0].busy);
  };
  while (text && (await busy()) > 0) await new Promise((done) => setTimeout(done, 10));
}
