/**
 * Prepares the host for a start or a test: the right Node.js, the dependencies, the secrets, the builds. Each step prints one
 * line about its work, and does nothing when nothing has changed.
 */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const at = (...parts) => join(root, ...parts);

export const say = (text) => console.log(`> ${text}`);

/** Runs a command to its end, its output passed through; throws when it fails. */
export function run(command, args, options = {}) {
  const { status, error, signal } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`'${command} ${args.join(' ')}' failed (${signal ?? `exit code ${status}`}).`);
}

/** Runs a package's own command line program with this Node.js, without npx and without a shell. */
export const runBin = (packageName, bin, args, options) =>
  run(process.execPath, [join(dirname(require.resolve(`${packageName}/package.json`)), bin), ...args], options);

/** Throws when this Node.js is not one of `engines` in package.json. */
export function checkNode(version = process.versions.node) {
  const { engines } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  const [lowest, highest] = engines.node
    .match(/>=(\d+)\S* <=(\d+)/)
    .slice(1)
    .map(Number);
  const major = Number(version.split('.')[0]);
  if (major < lowest || major > highest) {
    throw new Error(`Node.js ${version} will not do: version ${lowest} to ${highest} is needed.`);
  }
}

/** Names of the packages of package-lock.json that node_modules does not have in that version. */
export function missingPackages(wanted, installed) {
  return Object.entries(wanted)
    .filter(
      ([path, entry]) => path.includes('node_modules/') && !entry.optional && !entry.devOptional && !entry.extraneous,
    )
    .filter(
      ([path, entry]) => installed[path]?.version !== entry.version || installed[path]?.resolved !== entry.resolved,
    )
    .map(([path]) => path);
}

const readLock = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {});

/** The last installation: its Node.js ABI (native modules belong to one) and its lockfile. */
const installedFile = at('node_modules', '.installed.json');
const readInstalled = () => (existsSync(installedFile) ? JSON.parse(readFileSync(installedFile, 'utf8')) : {});

function needsInstall({ abi, lockfile }) {
  const installed = readInstalled();
  if (installed.abi && installed.abi !== abi) return true;
  if (installed.lockfile === lockfile) return false;
  const present = readLock(at('node_modules', '.package-lock.json'));
  return missingPackages(readLock(at('package-lock.json')), present).length > 0;
}

/** Installs the dependencies when node_modules is missing, older than the lockfile, or made by another Node.js. */
export function install() {
  const wanted = { abi: process.versions.modules, lockfile: hashOf([at('package-lock.json')]) };
  if (needsInstall(wanted)) {
    say('Installing the dependencies (some minutes the first time: two native modules are compiled)');
    run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  writeFileSync(installedFile, JSON.stringify(wanted));
}

const secret = () => randomBytes(24).toString('base64');
const secrets = {
  APP_KEYS: () => `${secret()},${secret()}`,
  API_TOKEN_SALT: secret,
  ADMIN_JWT_SECRET: secret,
  TRANSFER_TOKEN_SALT: secret,
  JWT_SECRET: secret,
  ENCRYPTION_KEY: secret,
};

/** Random values for the secrets that neither `env` nor the text of `.env` has, as lines of `.env`. */
export function missingSecrets(env, text) {
  const named = (name) => env[name] || new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*\\S`, 'm').test(text);
  return Object.entries(secrets)
    .filter(([name]) => !named(name))
    .map(([name, make]) => `${name}=${make()}`);
}

/** Writes the missing secrets to `.env`, which only the owner may read. */
export function writeSecrets() {
  const file = at('.env');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = missingSecrets(process.env, text);
  if (lines.length === 0) return;
  say('Writing random secrets to .env');
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${gap}${lines.join('\n')}\n`, { mode: 0o600 });
}

const skipped = new Set(['node_modules', 'dist', '.cache']);

/** The files under a path, or the path itself, in a fixed order; empty if it does not exist. */
function* filesOf(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) {
    if (!skipped.has(name) && !/\.test\.\w+$/.test(name)) yield* filesOf(join(path, name));
  }
}

/** One hash over the names and contents of all files in the given folders and files, tests left out. */
export function hashOf(paths) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of paths.flatMap((path) => [...filesOf(path)])) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

const plugin = (...parts) => at('plugins', 'apps', ...parts);
const pluginSources = [
  plugin('shared'),
  plugin('server', 'src'),
  plugin('sandbox'),
  plugin('browser', 'src'),
  plugin('cli'),
  plugin('testing'),
];
const builders = [
  plugin('build.mjs'),
  plugin('declarations.mjs'),
  plugin('tsconfig.base.json'),
  plugin('server', 'tsconfig.build.json'),
  plugin('server', 'build.mjs'),
  plugin('package.json'),
  at('package-lock.json'),
];
/** The SQLite database of a first start of the host. */
export const testDatabase = at('.cache', 'tests', 'template.db');
/** The release before this one: as a fixture, and unpacked, where it finds the packages that it needs. */
export const lastRelease = {
  file: at('tests', 'fixtures', 'last-release.tar.br'),
  folder: at('.cache', 'tests', 'last-release', 'package'),
};
const hostSources = [at('config'), at('src'), at('tsconfig.json'), at('package-lock.json')];

/** All builds: sources, outputs, function; `outdates` names the builds that write the same files. */
const builds = {
  pluginServer: {
    what: 'the plugin without its admin panel',
    from: [...pluginSources, ...builders],
    to: plugin('dist', 'server', 'index.js'),
    outdates: ['plugin'],
    make: () => run(process.execPath, ['build.mjs', '--fast'], { cwd: plugin() }),
  },
  pluginPanel: {
    what: "the plugin's admin panel",
    from: [plugin('admin'), plugin('shared'), ...builders],
    to: plugin('dist', 'admin', 'index.mjs'),
    outdates: ['plugin'],
    make: () => run(process.execPath, ['build.mjs', '--panel'], { cwd: plugin() }),
  },
  plugin: {
    what: 'the published form of the plugin',
    from: [...pluginSources, plugin('admin'), ...builders],
    to: plugin('dist', 'admin', 'index.mjs'),
    outdates: ['pluginServer', 'pluginPanel'],
    make: () => run(process.execPath, ['build.mjs', '--silent'], { cwd: plugin() }),
  },
  host: {
    what: 'the host',
    from: hostSources,
    to: at('dist', 'src', 'index.js'),
    make() {
      // Output without a source must be deleted, except the admin panel, which is in the same folder.
      for (const folder of ['src', 'config']) rmSync(at('dist', folder), { recursive: true, force: true });
      runBin('typescript', 'bin/tsc', ['-p', 'tsconfig.json']);
    },
  },
  testDatabase: {
    what: "the database that the tests' hosts copy",
    from: [...pluginSources, ...builders, ...hostSources, at('tests', 'support', 'template-database.cjs')],
    to: testDatabase,
    make: () => run(process.execPath, [at('tests', 'support', 'template-database.cjs'), testDatabase]),
  },
  lastRelease: {
    what: 'the release before this one',
    from: [lastRelease.file],
    to: join(lastRelease.folder, 'package.json'),
    make() {
      const folder = dirname(lastRelease.folder);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      const input = brotliDecompressSync(readFileSync(lastRelease.file));
      run('tar', ['-x', '-C', folder], { input, stdio: ['pipe', 'inherit', 'inherit'] });
      symlinkSync(plugin('node_modules'), join(lastRelease.folder, 'node_modules'));
    },
  },
  panel: {
    what: 'the host with its admin panel (about a minute)',
    from: [plugin('admin'), plugin('shared'), ...hostSources],
    to: at('build', 'build', 'index.html'),
    make() {
      runBin('@strapi/strapi', 'bin/strapi.js', ['build'], { env: { ...process.env, NODE_ENV: 'production' } });
      // `npm start` runs from a copy: `strapi develop` deletes the panel of dist/.
      rmSync(at('build'), { recursive: true, force: true });
      cpSync(at('dist'), at('build'), { recursive: true });
    },
  },
};

const stampOf = (name) => at('.cache', 'stamps', name);

/** Builds those of the named parts that are older than their sources, in the given order. */
export function build(...names) {
  for (const name of names) {
    const { what, from, to, outdates = [], make } = builds[name];
    const stampFile = stampOf(name);
    const stamp = hashOf(from);
    if (existsSync(to) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) continue;
    say(`Building ${what}`);
    for (const outdated of [name, ...outdates]) rmSync(stampOf(outdated), { force: true });
    make();
    mkdirSync(dirname(stampFile), { recursive: true });
    writeFileSync(stampFile, stamp);
  }
}

/** Absolute path of the first of these programs that is on the path, or undefined. */
export function findProgram(...names) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** Chromium's headless mode as a program of its own: it has no windows to draw, and takes half of the processor time. */
export const headlessShell = 'chromium-headless-shell';

/** Absolute path of CHROMIUM_PATH or a Chromium, or undefined. */
export function findChromium() {
  const browsers = [headlessShell, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return process.env.CHROMIUM_PATH || findProgram(...browsers);
}
