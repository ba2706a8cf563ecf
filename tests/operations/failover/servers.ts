import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFile, chmod, chown, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import knexFactory, { type Knex } from 'knex';
import { freePort } from '../../../scripts/server-process.mjs';
import { hasProgram } from '../monitoring/prometheus';

/** A database server of a test's own, in a folder. */
export interface OwnServer {
  readonly port: number;
  /** Starts it, and resolves when it answers. */
  start(): Promise<void>;
  /** Kills all of its processes at once, as a machine that loses its power does. */
  kill(): Promise<void>;
  /** Runs a statement; gives the rows. */
  ask(sql: string): Promise<Record<string, unknown>[]>;
  /** Kills it, and deletes its folder. */
  remove(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));

/** PostgreSQL does not run as root: there its own account has the folder. */
const asPostgres = () => (isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {});

/** The folder of PostgreSQL's programs, the newest release's; undefined where it is not installed. */
export async function postgresPrograms(): Promise<string | undefined> {
  const releases = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = releases.sort((one, other) => Number(other) - Number(one))[0];
  return newest && path.join('/usr/lib/postgresql', newest, 'bin');
}

export const hasMariaDb = (): boolean => hasProgram('mariadbd') && hasProgram('mariadb-install-db');

interface Command {
  program: string;
  args: string[];
  as: { uid?: number; gid?: number };
}

/** A server as a process; its children end with it. */
function createServer(folder: string, port: number, { program, args, as }: Command, knex: Knex): OwnServer {
  let child: ChildProcess | undefined;
  const ask: OwnServer['ask'] = async (sql) => {
    const answer = await knex.raw(sql);
    return (answer.rows ?? answer[0]) as Record<string, unknown>[];
  };
  const answers = () =>
    ask('select 1').then(
      () => true,
      () => false,
    );
  const kill = async () => {
    const server = child;
    if (!server?.pid || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((done) => server.once('exit', done));
    // One that is stopped makes no other, and none writes anything after the others have ended.
    send(server.pid, 'SIGSTOP');
    const pids = [server.pid, ...childrenOf(server.pid)];
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) send(pid, signal);
    // A server does not start while a process of the one before is there.
    while (pids.slice(1).some((pid) => send(pid, 0))) await pause(5);
    await ended;
  };
  return {
    port,
    ask,
    kill,
    async start() {
      child = spawn(program, args, { ...as, stdio: 'ignore', cwd: folder });
      while (!(await answers())) {
        if (child.exitCode !== null) throw new Error(`${program} has ended: ${child.exitCode}`);
        await pause(30);
      }
    },
    async remove() {
      await kill();
      await knex.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const childrenOf = (pid: number): number[] => {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
  } catch {
    return [];
  }
};

/** Whether the process is there. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** A new PostgreSQL cluster, or a standby of another one. */
export async function createPostgres(programs: string, folder: string, primary?: OwnServer): Promise<OwnServer> {
  const port = await freePort();
  const as = asPostgres();
  await mkdir(folder, { mode: 0o700 });
  if (as.uid !== undefined) {
    await chmod(path.dirname(folder), 0o755);
    await chown(folder, as.uid, as.gid);
  }
  const run = (program: string, args: string[]) =>
    execFileSync(path.join(programs, program), args, { ...as, cwd: folder, stdio: 'pipe' });
  if (primary) {
    const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
    run('pg_basebackup', ['-D', folder, '-R', '-X', 'stream', '-c', 'fast', '--no-sync', ...from]);
  } else {
    run('initdb', ['-D', folder, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C']);
    const settings = ["listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", 'max_wal_senders = 5'];
    // By default a standby waits 5 s before it looks for a primary that was started again, and each commit waits with it.
    settings.push("wal_retrieve_retry_interval = '200ms'");
    // It is killed, not the machine.
    await appendFile(path.join(folder, 'postgresql.conf'), `\n${[...settings, 'fsync = off'].join('\n')}\n`);
  }
  const connection = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' };
  const knex = knexFactory({ client: 'pg', connection, pool: { min: 0, max: 2, idleTimeoutMillis: 100 } });
  const args = ['-D', folder, '-p', String(port)];
  return createServer(folder, port, { program: path.join(programs, 'postgres'), args, as }, knex);
}

/** Makes the primary wait with each commit until its standby has it. Resolves when that holds. */
export async function synchronise(primary: OwnServer): Promise<void> {
  await primary.ask("alter system set synchronous_standby_names = '*'");
  await primary.ask('select pg_reload_conf()');
  const isSynchronous = async () =>
    (await primary.ask("select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming'")).length >
    0;
  while (!(await isSynchronous())) await pause(30);
}

/** A new MariaDB server. */
export async function createMariaDb(folder: string): Promise<OwnServer> {
  const port = await freePort();
  await mkdir(folder);
  execFileSync('mariadb-install-db', ['--no-defaults', `--datadir=${folder}`, '--skip-test-db'], { stdio: 'pipe' });
  const connection = { host: '127.0.0.1', port, user: 'root' };
  const knex = knexFactory({ client: 'mysql2', connection, pool: { min: 0, max: 2, idleTimeoutMillis: 100 } });
  const args = ['--no-defaults', `--datadir=${folder}`, `--port=${port}`, '--bind-address=127.0.0.1'];
  args.push('--skip-grant-tables', `--socket=${folder}/socket`, ...(isRoot ? ['--user=root'] : []));
  return createServer(folder, port, { program: 'mariadbd', args, as: {} }, knex);
}
