/** A PostgreSQL of the benchmark's own, on the servers' core. */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../../scripts/server-process.mjs';

const { Client } = createRequire(import.meta.url)('pg');

/** The folder of PostgreSQL's programs. @throws when there is none */
function programs() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')));
  if (!found) throw new Error('PostgreSQL is not installed: there is no initdb');
  return found;
}

/** PostgreSQL refuses to run as root: the account `postgres` then runs it. */
function account() {
  if (process.getuid() !== 0) return {};
  const id = (kind) => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Starts an empty cluster in a temporary folder.
 * @param command how a program is started on a core (`onCore`)
 * @param settings instead of the defaults, by name: `{ shared_buffers: '2GB' }`
 * @returns its process id and version; `create` makes a database and returns what servers need to connect; `stop` ends it
 * @throws when PostgreSQL is not installed or does not start
 */
export async function startPostgres(command, settings = {}) {
  const bin = programs();
  const owner = account();
  const folder = mkdtempSync(join(tmpdir(), 'apps-bench-postgres-'));
  if (owner.uid) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'], {
    ...owner,
    cwd: folder,
    stdio: 'pipe',
  });
  const port = await freePort();
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program, ...args] = command(join(bin, 'postgres'), ['-D', data, '-p', String(port), '-k', folder, ...given]);
  const child = spawn(program, args, { ...owner, cwd: folder, stdio: 'ignore' });
  const at = { host: '127.0.0.1', port, user: 'postgres', password: '' };
  const ask = async (text) => {
    const client = new Client({ ...at, database: 'postgres' });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };
  process.once('exit', () => {
    child.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGINT');
      await new Promise((done) => child.once('exit', done));
    }
    rmSync(folder, { recursive: true, force: true });
  };
  let version;
  for (let tries = 0; !version; tries += 1) {
    try {
      version = (await ask('show server_version')).rows[0].server_version;
    } catch (error) {
      if (tries > 100 || child.exitCode !== null) {
        await stop();
        throw new Error(`PostgreSQL does not start: ${error.message}`);
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  return {
    pid: child.pid,
    version,
    stop,
    async create(name) {
      await ask(`create database ${name}`);
      return { kind: 'postgres', ...at, name };
    },
  };
}
