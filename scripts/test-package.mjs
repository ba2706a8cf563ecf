/**
 * `npm run test:package [-- --hosts typescript,javascript,oldest] [--keep]`: the packed plugin in fresh Strapi applications,
 * set up by the steps that its README prints. Needs the npm registry, a Chromium, and for the first host a PostgreSQL
 * (TEST_POSTGRES_HOST, _PORT, _USER, _PASSWORD). Takes some minutes a host; `npm test` does not run it.
 *
 * The hosts are made beside the repository: not in it, where Node.js would find its packages, and in no folder whose name
 * has `tmp` or begins with a dot, because `strapi develop` does not watch those. `--keep` leaves them there.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { writeFiles } from './files.mjs';
import { editFiles, keepForm, openPanel, smoke, writeNotes } from './package/checks.mjs';
import { changeManifest, makeHost, npm, run, setEnv, startHost, versionOf } from './package/host.mjs';
import { manifestOf, pack, packages } from './package/pack.mjs';
import { blocksOf, commandsOf } from './package/readme.mjs';
import { root, say } from './prepare.mjs';

/** The release of Strapi's tool that makes the applications, and the oldest release of Strapi that the plugin takes. */
const newest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies['@strapi/strapi'];
const oldest = manifestOf('strapi-plugin-apps').peerDependencies['@strapi/strapi'].replace('^', '');

const readme = readFileSync(join(packages['strapi-plugin-apps'], 'README.md'), 'utf8');
const isNode20 = process.versions.node.startsWith('20.');
const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

/** Runs a step, and prints how long it took. @returns what the step returns */
async function step(title, work) {
  const begin = performance.now();
  const result = await work();
  console.log(`  ${title}: ${seconds(performance.now() - begin)}${typeof result === 'string' ? ` (${result})` : ''}`);
  return result;
}

/** The commands of the README's installation up to the start, with tarballs for the names of packages. */
async function install(host, tarballs) {
  const [first, ...others] = commandsOf(readme, 'Install');
  assert.deepEqual([first, ...others], ['npm install strapi-plugin-apps', 'npm run develop']);
  await step('npm install strapi-plugin-apps', () => void npm(host, ['install', tarballs['strapi-plugin-apps']]));
}

/** The files of the README's first app. */
function writeFirstApp(host) {
  const files = blocksOf(readme, 'A first app').filter(({ path }) => path);
  assert.equal(files.length, 3);
  writeFiles(host, Object.fromEntries(files.map(({ path, text }) => [path, text])));
}

/** The README's request for the first app, sent to this address. @returns its answer */
function askFirstApp(url) {
  const [command] = commandsOf(readme, 'A first app');
  return run(root, 'sh', ['-c', `${command.replace('http://localhost:1337', url)} --silent --show-error`]).trim();
}

/** Strapi without what the plugin needs: it starts, and says at once what is missing and how to get it. */
async function checkMissing(host) {
  const running = await startHost(host, 'develop');
  try {
    const expected = ['no theme in the folder themes', 'npx strapi-plugin-apps init', 'src/admin/vite.config.js'];
    if (isNode20) expected.push('run "npm install isolated-vm@5.0.4"');
    for (let waited = 0; !expected.every((text) => running.output().includes(text)); waited += 200) {
      assert.ok(waited < 10_000, `The log does not say ${expected.join(', ')}:\n${running.output().slice(-3000)}`);
      await new Promise((done) => setTimeout(done, 200));
    }
    assert.notEqual((await fetch(`${running.url}/site`)).status, 500);
  } finally {
    await running.stop();
  }
}

/** `strapi develop`: the README's app, the panel, and files that are saved. */
async function checkDevelop(host, python) {
  const running = await startHost(host, 'develop');
  try {
    console.log(`  strapi develop answers after ${seconds(running.time)}`);
    const begin = performance.now();
    assert.equal(askFirstApp(running.url), '0');
    console.log(`  its first answer of an app: ${seconds(performance.now() - begin)}`);
    await smoke(running.url, { python });
    await step('the panel in a browser', async () => seconds(await openPanel(host, running.url)));
    await step('a half filled form', () => keepForm(host, running.url));
    await step('saved files', () => editFiles(host, running));
  } finally {
    await running.stop();
  }
}

/** `strapi start` with the built panel. */
async function checkStart(host, python, env = {}) {
  const running = await startHost(host, 'start', env);
  try {
    console.log(`  strapi start answers after ${seconds(running.time)}`);
    await smoke(running.url, { python });
  } finally {
    await running.stop();
  }
}

/** An empty database on the PostgreSQL of the tests, as variables of `.env`; `drop` removes it. */
async function postgres() {
  const of = (part, fallback) => process.env[`TEST_POSTGRES_${part}`] ?? fallback;
  const given = { host: of('HOST', '127.0.0.1'), port: Number(of('PORT', 5432)), user: of('USER', 'postgres') };
  const account = { ...given, password: of('PASSWORD', '') };
  const database = `apps_package_${randomBytes(4).toString('hex')}`;
  const send = async (sql) => {
    const client = new pg.Client({ ...account, database: 'postgres' });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await send(`create database ${database}`);
  const values = { HOST: account.host, PORT: account.port, USERNAME: account.user, PASSWORD: account.password };
  const named = Object.entries({ ...values, NAME: database, CLIENT: 'postgres', SSL: 'false' });
  return {
    env: Object.fromEntries(named.map(([name, value]) => [`DATABASE_${name}`, value])),
    drop: () => send(`drop database ${database} with (force)`),
  };
}

const isolatedVm = (host) => npm(host, ['install', 'isolated-vm@5.0.4']);

/** The file with which the panel ignores themes, as the reference has it. */
function ignoreThemes(host, language) {
  const reference = readFileSync(join(root, 'docs', 'reference', 'installation.md'), 'utf8');
  const [{ text }] = blocksOf(reference, 'TypeScript applications').filter(({ language: name }) => name === 'ts');
  const javascript = text.replace(/^import.*\n\n/, '').replace(/export default .* =>/, 'module.exports = (config) =>');
  const isTypeScript = language === 'typescript';
  writeFiles(join(host, 'src', 'admin'), {
    [`vite.config.${isTypeScript ? 'ts' : 'js'}`]: isTypeScript ? text : javascript,
  });
}

/** A line of tsconfig.json that the README asks for. */
function excludeThemes(host) {
  const file = join(host, 'tsconfig.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"exclude": [', '"exclude": [\n    "themes/",'));
}

/** The TypeScript of blocks is found in the host's program, until the README's line excludes it. */
async function checkTypeScript(host) {
  const running = await startHost(host, 'develop');
  const hint = /add "themes\/" to "exclude" in tsconfig\.json/;
  // It is logged after the first answer.
  for (let waited = 0; waited < 30_000 && !hint.test(running.output()); waited += 200) await pause(200);
  await running.stop();
  assert.match(running.output(), hint);
  excludeThemes(host);
  const wrong = 'export const value = (): number => "text";\n';
  writeFiles(join(host, 'themes', 'default', 'apps', 'broken', 'blocks'), { 'typed.ts': wrong });
}

/** The file of the newest tool calls a function that the oldest release does not have. */
const oldDatabaseConfig = `const path = require('path');

module.exports = ({ env }) => ({
  connection: {
    client: 'sqlite',
    connection: { filename: path.join(__dirname, '..', env('DATABASE_FILENAME', '.tmp/data.db')) },
    useNullAsDefault: true,
  },
});
`;

const hosts = {
  async typescript(host, tarballs) {
    await step('npm install', () => void npm(host, ['install']));
    await install(host, tarballs);
    await step(
      'npm install strapi-plugin-apps-python',
      () => void npm(host, ['install', tarballs['strapi-plugin-apps-python']]),
    );
    if (isNode20) await step('npm install isolated-vm@5.0.4', () => void isolatedVm(host));
    writeFirstApp(host);
    writeNotes(host);
    ignoreThemes(host, 'typescript');
    await step('TypeScript of blocks', () => checkTypeScript(host));
    await checkDevelop(host, true);
    await step('strapi build', () => void npm(host, ['run', 'build']));
    await checkStart(host, true);
    npm(host, ['install', 'pg@8']);
    const { env, drop } = await postgres();
    try {
      setEnv(host, env);
      await step('PostgreSQL', () => checkStart(host, true));
      await checkDevelop(host, true);
    } finally {
      await drop();
    }
  },

  async javascript(host, tarballs) {
    await step('npm install', () => void npm(host, ['install']));
    await install(host, tarballs);
    await step('what is missing', () => checkMissing(host));
    if (isNode20) await step('npm install isolated-vm@5.0.4', () => void isolatedVm(host));
    writeFirstApp(host);
    writeNotes(host);
    ignoreThemes(host, 'javascript');
    await checkDevelop(host, false);
    await step('strapi build', () => void npm(host, ['run', 'build']));
    await checkStart(host, false);
  },

  /** The oldest release: an application of the newest tool, with the packages of that release. */
  async oldest(host, tarballs) {
    changeManifest(host, (manifest) => {
      for (const name of Object.keys(manifest.dependencies))
        if (name.startsWith('@strapi/')) manifest.dependencies[name] = oldest;
      // The release of sharp that Strapi had then downloads a binary when it is installed. Some of Strapi's packages take any
      // release of its admin package, of which npm would install the newest one.
      manifest.overrides = { sharp: '0.33.5', '@strapi/admin': oldest };
    });
    writeFileSync(join(host, 'config', 'database.js'), oldDatabaseConfig);
    await step('npm install', () => void npm(host, ['install']));
    assert.equal(versionOf(host, '@strapi/strapi'), oldest);
    await install(host, tarballs);
    if (isNode20) await step('npm install isolated-vm@5.0.4', () => void isolatedVm(host));
    writeFirstApp(host);
    writeNotes(host);
    ignoreThemes(host, 'javascript');
    await checkDevelop(host, false);
    await step('strapi build', () => void npm(host, ['run', 'build']));
    await checkStart(host, false);
  },
};

const { values } = parseArgs({
  options: { hosts: { type: 'string', default: Object.keys(hosts).join() }, keep: { type: 'boolean', default: false } },
});
const folder = mkdtempSync(join(dirname(root), 'package-hosts-'));
let [passed, failed] = [0, 0];
try {
  say('Packing');
  const tarballs = Object.fromEntries(Object.keys(packages).map((name) => [name, pack(name, folder).file]));
  for (const name of values.hosts.split(',')) {
    say(`${name}, Strapi ${name === 'oldest' ? oldest : newest}, Node.js ${process.versions.node}`);
    const language = name === 'typescript' ? name : 'javascript';
    try {
      const host = makeHost(folder, { name, language, tool: newest });
      await hosts[name](host, tarballs);
      passed += 1;
    } catch (error) {
      console.error(`> ${error.stack ?? error}`);
      failed += 1;
    }
  }
} finally {
  if (!values.keep) rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
