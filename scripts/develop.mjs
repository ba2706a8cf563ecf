/**
 * `npm run develop`: Strapi in development mode, and the plugin built again when one of its files changes. A change of the
 * server, the sandbox or shared/ restarts Strapi; one of the admin panel or of the browser script shows after a reload.
 * Takes the next free port when the usual one is in use, so it can run beside `npm start`; options go to `strapi develop`.
 */
import { watch } from 'node:fs';
import { join } from 'node:path';
import { build, checkNode, install, root, say, writeSecrets } from './prepare.mjs';
import { exitAs, listenProblem, onStop, serverAddress, spawnNode } from './server-process.mjs';

const plugin = join(root, 'plugins', 'apps');
const MAX_PORTS = 10;

/** Programs of the plugin by their folders: how one is built, and whether Strapi has loaded it. */
const programs = [
  { folder: 'server/src', build: 'pluginServer', restarts: true },
  { folder: 'sandbox/src', build: 'pluginServer', restarts: true },
  { folder: 'shared', build: 'pluginServer', restarts: true },
  { folder: 'shared', build: 'pluginPanel', restarts: false },
  { folder: 'browser/src', build: 'pluginServer', restarts: false },
  { folder: 'admin/src', build: 'pluginPanel', restarts: false },
];

/** The port of the environment or of `.env`, or the first free one behind it. */
async function choosePort() {
  const { host, port } = serverAddress();
  for (let tried = port; tried < port + MAX_PORTS; tried += 1) {
    if ((await listenProblem({ host, port: tried })) !== null) continue;
    if (tried !== port) say(`Port ${port} is in use: this Strapi takes ${tried}`);
    return tried;
  }
  throw new Error(`The ports ${port} to ${port + MAX_PORTS - 1} are in use. Choose another: PORT=… npm run develop`);
}

/** Strapi in development mode; `restart` ends it and starts it again. */
function strapiDevelop(port) {
  const program = join(root, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js');
  let child;
  const start = () => {
    child = spawnNode([program, 'develop', ...process.argv.slice(2)], { PORT: String(port) });
    child.once('exit', exitAs);
  };
  start();
  onStop((signal) => child.kill(signal));
  return {
    async restart() {
      child.removeListener('exit', exitAs);
      const ended = new Promise((done) => child.once('exit', done));
      child.kill();
      await ended;
      start();
    },
  };
}

/** Builds the changed programs, one build at a time; a failed build is retried at the next change. */
function builder(strapi) {
  const changed = new Set();
  let running = false;
  return async function onChange(program) {
    changed.add(program);
    if (running) return;
    running = true;
    // An editor writes several files, or one file in several steps.
    await new Promise((done) => setTimeout(done, 200));
    while (changed.size > 0) {
      const programsNow = [...changed];
      changed.clear();
      try {
        build(...new Set(programsNow.map(({ build: name }) => name)));
        if (programsNow.some(({ restarts }) => restarts)) await strapi.restart();
      } catch (error) {
        console.error(`> ${error.message}`);
      }
    }
    running = false;
  };
}

try {
  checkNode();
  install();
  writeSecrets();
  build('pluginServer', 'pluginPanel');
  const onChange = builder(strapiDevelop(await choosePort()));
  for (const program of programs) {
    watch(join(plugin, program.folder), { recursive: true }, (_event, file) => {
      if (file && !/\.test\.tsx?$/.test(file)) onChange(program);
    });
  }
} catch (error) {
  console.error(`> ${error.message}`);
  process.exitCode = 1;
}
