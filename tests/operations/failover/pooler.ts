import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../scripts/server-process.mjs';

/** The account that PgBouncer runs as where the tests run as root, which it refuses. */
const ACCOUNT = 'postgres';

/** Sessions that a pooler has on the server: fewer than the hosts have connections, so that they share each. */
export const SESSIONS = 3;

export interface Upstream {
  host: string;
  port: string;
  user: string;
  password: string;
}

/** Starts PgBouncer in transaction mode in front of a server. */
export async function startPooler(folder: (...names: string[]) => string, server: Upstream) {
  const port = await freePort();
  const config = folder('pgbouncer.ini');
  const password = server.password ? ` password=${server.password}` : '';
  await writeFile(
    config,
    `[databases]
* = host=${server.host} port=${server.port} user=${server.user}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SESSIONS}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
server_login_retry = 1
`,
  );
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const uid = Number(execFileSync('id', ['-u', ACCOUNT], { encoding: 'utf8' }));
    await chmod(folder(), 0o755);
    await chown(config, uid, -1);
  }
  let child: ChildProcess | undefined;
  const isOpen = () =>
    new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false));
      socket.on('connect', () => socket.destroy());
    });
  return {
    port,
    async start() {
      child = spawn('pgbouncer', [...(isRoot ? ['-u', ACCOUNT] : []), '-q', config], { stdio: 'ignore' });
      for (let time = 0; time < 100 && !(await isOpen()); time += 1) await pause(50);
    },
    /** Ends all connections at once. */
    async stop() {
      const ended = new Promise((done) => child?.once('exit', done));
      child?.kill('SIGKILL');
      await ended;
    },
  };
}
