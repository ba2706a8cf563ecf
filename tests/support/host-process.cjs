/**
 * A host in a process of its own, started by host.ts: boots Strapi as `strapi start` does, sends its address, and
 * runs the functions that a test sends. With TEST_REUSED it waits for the environment of a host first, and when that
 * host is stopped, for the next one: what Strapi loads and compiles is three quarters of a start. The code of the host
 * and of the plugin is loaded again for each. Between two hosts it runs commands of `strapi-plugin-apps` in the same way.
 */
const hooks = require('node:async_hooks');
const bcrypt = require('bcryptjs');
const strapiAdmin = require.resolve('@strapi/admin/package.json');
const { Stores: RateLimitStores } = require(require.resolve('koa2-ratelimit', { paths: [strapiAdmin] }));
const { createStrapi } = require('@strapi/strapi');

/** In tests passwords are hashed as everywhere, but with the least work: ten rounds take a tenth of a second. */
if (process.env.NODE_ENV === 'test')
  for (const name of ['hash', 'hashSync']) {
    const hash = bcrypt[name];
    bcrypt[name] = (text, salt, ...rest) => hash(text, typeof salt === 'number' ? 4 : salt, ...rest);
  }

/** The storages that the present host has made: each makes every promise of the process more expensive, until it is disabled. */
const storages = new Set();
hooks.AsyncLocalStorage = class extends hooks.AsyncLocalStorage {
  constructor(...options) {
    super(...options);
    storages.add(this);
  }
};

const appDir = process.cwd();
const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
let strapi;

async function start() {
  strapi = await createStrapi({ appDir, distDir: `${appDir}/dist` }).start();
  process.send({ url: strapi.config.get('server.absoluteUrl') });
}

/** Replaces the whole environment: a variable of an earlier host must not stay. */
function replaceEnvironment(env) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  require('./configure.cjs').configure();
}

/** Forgets all code but that of packages. */
function forget() {
  for (const file of Object.keys(require.cache)) {
    const isKept = file.includes('node_modules') || file.startsWith(__dirname);
    if (!isKept) delete require.cache[file];
  }
}

async function stop() {
  await strapi.destroy();
  strapi = undefined;
  tidy();
  process.send({ stopped: true });
}

/** Makes the process as it was before it had a host or ran a command. */
function tidy() {
  // Strapi removes all listeners of a process when it ends.
  for (const { emitter, listeners } of listened) {
    emitter.removeAllListeners();
    for (const [name, one] of listeners) emitter.on(name, one);
  }
  // Strapi counts attempts at login in a variable of this package: a later host's users would meet an earlier host's limit.
  RateLimitStores.Memory.cleanAll();
  for (const storage of storages) storage.disable();
  storages.clear();
  process.stdout.write = write;
  process.chdir(appDir);
  forget();
}

const { exit } = process;
/** A command that starts Strapi sends what others print to standard error. */
const { write } = process.stdout;

/** Runs a command as in a process of its own, and sends its exit code. */
function runCommand({ program, args, cwd, env }) {
  replaceEnvironment(env);
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...args];
  process.exit = (code) => {
    process.exit = exit;
    // Strapi did not start, or did not end: nothing else can run here.
    if (global.strapi) exit(code);
    tidy();
    process.send({ code });
  };
  require(program);
}

async function run({ call, source, args }) {
  try {
    // biome-ignore lint/security/noGlobalEval: the tests' own functions, sent as their source
    const result = await eval(`(${source})`)(strapi, ...args);
    process.send({ call, result: plain(result) });
  } catch (error) {
    process.send({ call, error: { name: error.name, message: error.message, details: plain(error.details) } });
  }
}

process.on('message', (message) => {
  if (message.start) {
    replaceEnvironment(message.start);
    start();
  } else if (message.command) runCommand(message.command);
  else if (message.stop) stop();
  else run(message);
});
process.on('disconnect', () => process.exit(1));
/** The listeners of a process without Strapi. */
const listened = [process, process.stdout, process.stderr].map((emitter) => ({
  emitter,
  listeners: emitter.eventNames().flatMap((name) => emitter.rawListeners(name).map((one) => [name, one])),
}));
if (!process.env.TEST_REUSED) start();
