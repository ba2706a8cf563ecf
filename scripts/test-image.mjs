/**
 * `npm run test:image`: follows the Dockerfile in clean Debian roots, for machines without a container engine, then starts what it has
 * made as its user, on a file system that is read-only but for what compose.yaml mounts, asks its health check and ends it by
 * SIGTERM. Needs root, Debian's package debootstrap, Node.js of the image's
 * version and the npm registry; takes about ten minutes. `npm test` does not run it. The roots are in .cache/image.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { load } from 'js-yaml';
import { root, say } from './prepare.mjs';
import { readDockerfile } from './read-dockerfile.mjs';
import { freePort } from './server-process.mjs';

const base = join(root, '.cache', 'image');
/** The user `node` of the official images. */
const USER = { uid: 1000, gid: 1000 };
/** The certificates that this machine trusts: its registry may have one of its own. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
/** What the official images have beside Debian: the full one a compiler. */
const packages = { full: 'ca-certificates,python3,make,g++,git', slim: 'ca-certificates,libstdc++6' };

const run = (command, args, options = {}) => execFileSync(command, args, { stdio: 'inherit', ...options });

/** A clean Debian with this machine's Node.js, made once. */
function debian(kind) {
  const folder = join(base, `debian-${kind}`);
  if (existsSync(join(folder, 'usr/local/bin/node'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(base, { recursive: true });
  run('debootstrap', ['--variant=minbase', `--include=${packages[kind]}`, 'bookworm', folder]);
  const prefix = dirname(dirname(process.execPath));
  for (const part of ['bin/node', 'bin/npm', 'bin/npx', 'lib/node_modules/npm', 'include/node'])
    if (existsSync(join(prefix, part)))
      run('cp', ['-a', '--parents', part, join(folder, 'usr/local')], { cwd: prefix });
  run('chroot', [folder, 'useradd', '--uid', String(USER.uid), '--create-home', 'node']);
  return folder;
}

/** The files that `COPY . .` sends: all but those that git ignores. */
const contextFiles = () =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)) && !/^\.env(?!\.example)/.test(file));

/** npm's settings of this machine: where its registry is. Native modules are compiled with the files of the Node.js that was copied. */
const npmSettings = () => {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const named = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_|https?_proxy$|no_proxy$|NODE_EXTRA)/i.test(name),
  );
  return {
    ...Object.fromEntries(named),
    npm_config_registry: registry,
    npm_config_nodedir: '/usr/local',
    NODE_EXTRA_CA_CERTS: AUTHORITIES,
  };
};

/** Copies files of the context or of another stage into a stage. */
function copy({ stages, stage }, { from, sources, target }) {
  const to = join(stage.folder, target.startsWith('/') ? target : posix.join(stage.workdir, target));
  if (from) {
    mkdirSync(to, { recursive: true });
    for (const source of sources) run('cp', ['-a', `${join(stages.get(from).folder, source)}/.`, to]);
    return;
  }
  const files = contextFiles();
  for (const source of sources) {
    const found = source === '.' ? files : files.filter((file) => file === source);
    if (found.length === 0) throw new Error(`COPY: there is no file ${source}`);
    for (const file of found) {
      const name = source === '.' ? file : posix.basename(file);
      cpSync(join(root, file), join(to, name), { recursive: statSync(join(root, file)).isDirectory() });
    }
  }
}

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/**
 * Arguments of `unshare` that mount what a container has, for a process alone, and become chroot, whose arguments follow. No process is
 * between: signals reach the program.
 * @param mounts commands
 */
function contained({ folder }, mounts = []) {
  const all = [`mount --bind ${folder} ${folder}`, `mount -t proc proc ${folder}/proc`, ...mounts, 'exec chroot "$@"'];
  return ['--mount', 'sh', '-c', all.join(' && '), 'sh'];
}

/** Commands that make a stage's file system read-only but for the volumes of a service, and give it its temporary folders. */
function readOnly({ folder }, { volumes, tmpfs }) {
  const writable = volumes.map((volume) => `${folder}${volume.split(':')[1]}`);
  return [
    ...writable.map((path) => `mount --bind ${path} ${path}`),
    ...tmpfs
      .map((one) => one.split(':'))
      .map(([path, options = 'mode=1777']) => {
        return `mount -t tmpfs -o ${options} tmpfs ${folder}${path}`;
      }),
    `mount -o remount,bind,ro ${folder}`,
  ];
}

/** Runs a command in a stage. */
function runIn(stage, command) {
  const env = { PATH, HOME: '/root', ...npmSettings(), ...stage.env };
  run('unshare', [...contained(stage), stage.folder, '/bin/sh', '-c', `cd ${stage.workdir} && ${command}`], { env });
}

const steps = {
  FROM({ stages }, { name, image }) {
    const kind = image.endsWith('-slim') ? 'slim' : 'full';
    const folder = join(base, `stage-${name}`);
    rmSync(folder, { recursive: true, force: true });
    run('cp', ['-a', debian(kind), folder]);
    cpSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'));
    cpSync('/etc/hosts', join(folder, 'etc/hosts'));
    cpSync(AUTHORITIES, join(folder, AUTHORITIES));
    const stage = { folder, workdir: '/', env: {}, user: null };
    stages.set(name, stage);
    return stage;
  },
  WORKDIR({ stage }, { path }) {
    stage.workdir = path;
    mkdirSync(join(stage.folder, path), { recursive: true });
  },
  ENV: ({ stage }, { values }) => void Object.assign(stage.env, values),
  COPY: (state, given) => copy(state, given),
  RUN: ({ stage }, { command }) => runIn(stage, command),
  USER: ({ stage }, { name }) => void Object.assign(stage, { user: name }),
  CMD: ({ stage }, { command }) => void Object.assign(stage, { command }),
  HEALTHCHECK: ({ stage }, { command }) => void Object.assign(stage, { check: command }),
};

const state = { stages: new Map(), stage: null };
for (const step of readDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'))) {
  if (!steps[step.name]) continue;
  say(step.text.slice(0, 120));
  state.stage = steps[step.name](state, step.values) ?? state.stage;
}

/** Starts the image's command as its user, with secrets, and gives its process. */
const { stage } = state;
const port = await freePort();
const secrets = [
  'APP_KEYS',
  'API_TOKEN_SALT',
  'ADMIN_JWT_SECRET',
  'TRANSFER_TOKEN_SALT',
  'JWT_SECRET',
  'ENCRYPTION_KEY',
];
const env = {
  PATH,
  HOME: '/home/node',
  ...stage.env,
  PORT: String(port),
  HOST: '127.0.0.1',
  ...Object.fromEntries(secrets.map((name) => [name, 'a-secret-of-this-test,another-one'])),
};
const { site } = load(readFileSync(join(root, 'compose.yaml'), 'utf8')).services;
const inside = (command) => [
  ...contained(stage, readOnly(stage, site)),
  ...[`--userspec=${stage.user}`, stage.folder, '/usr/bin/env', '-C', stage.workdir],
  ...command,
];
const server = spawn('unshare', inside(stage.command), { env, stdio: 'inherit' });
const ended = new Promise((done) => server.once('exit', (code, signal) => done({ code, signal })));
const isHealthy = () => {
  try {
    execFileSync('unshare', inside(stage.check), { env, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const until = Date.now() + 120_000;
while (!isHealthy() && server.exitCode === null && Date.now() < until) await pause(1_000);
const wasHealthy = isHealthy();
const size = execFileSync('du', ['-sm', join(stage.folder, stage.workdir)], { encoding: 'utf8' }).split('\t')[0];
server.kill('SIGTERM');
const { code, signal } = await ended;
console.log(`healthy: ${wasHealthy}; ended by SIGTERM with ${signal ?? code}; ${size} MB below ${stage.workdir}`);
process.exitCode = wasHealthy && code === 0 ? 0 : 1;
