import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../scripts/server-process.mjs';
import { repository } from '../../support/theme';

/** Folders below which nginx keeps what does not fit into memory. */
const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Makes a self-signed certificate of the site's name. */
function certify(folder: string): void {
  const subject = ['-subj', '/CN=www.example.com', '-days', '1'];
  const files = ['-keyout', path.join(folder, 'site.key'), '-out', path.join(folder, 'site.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], { stdio: 'ignore' });
}

const isOpen = (port: number) =>
  new Promise<boolean>((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    }).on('error', () => done(false));
  });

/** Processes that answer; one ends when its requests are answered. */
const workersOf = ({ pid }: ChildProcess) =>
  execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);

/** nginx with the repository's own file, in front of hosts; only its ports, its certificate and the hosts are others. */
export async function startNginx(folder: string, ...hosts: string[]) {
  const [plain, secure] = [await freePort(), await freePort()];
  certify(folder);
  const given = await readFile(path.join(repository, 'deploy', 'nginx', 'site.conf'), 'utf8');
  /** @param away the host that gets no requests */
  const configure = (away?: string) => {
    const server = (host: string, options: string) =>
      `server ${new URL(host).host}${options}${host === away ? ' down' : ''};`;
    const site = given
      .replaceAll('/etc/nginx/certificates', folder)
      .replace(/server site:1337( .*)?;/, (_, options = '') => hosts.map((host) => server(host, options)).join('\n'))
      .replaceAll(/^ *listen \[::\].*\n/gm, '')
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ', `listen 127.0.0.1:${secure} `);
    return writeFile(path.join(folder, 'site.conf'), site);
  };
  await configure();
  const main = [
    'daemon off;',
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `error_log ${folder}/error.log;`,
    `pid ${folder}/nginx.pid;`,
    'events {}',
    'http {',
    'access_log off;',
    ...folders.map((name) => `${name}_temp_path ${folder}/${name};`),
    `include ${folder}/site.conf;`,
    '}',
  ];
  await writeFile(path.join(folder, 'nginx.conf'), main.join('\n'));
  const child: ChildProcess = spawn('nginx', ['-c', path.join(folder, 'nginx.conf')], { stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', done));
  for (let time = 0; time < 100 && child.exitCode === null && !(await isOpen(secure)); time += 1) await pause(50);
  return {
    plain: `http://127.0.0.1:${plain}`,
    secure: `https://127.0.0.1:${secure}`,
    /** Takes a host out, or puts it back, as docs/operate/upgrade.md says; what is under way is answered by the workers of before. */
    async without(host?: string) {
      await configure(host);
      const before = workersOf(child);
      child.kill('SIGHUP');
      for (let time = 0; time < 200 && before.some((pid) => workersOf(child).includes(pid)); time += 1) await pause(50);
    },
    /** What it has written into its log of errors. */
    errors: () => readFile(path.join(folder, 'error.log'), 'utf8'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
