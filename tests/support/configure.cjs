/**
 * Required before a host (NODE_OPTIONS), and called for each host of a reused process. Variables of the environment change the host:
 *
 * - TEST_APPS_CONFIG, JSON, is put over the plugin's part of config/plugins; TEST_UPLOAD, JSON, is that of Strapi's upload plugin.
 * - TEST_LOGIC_TIME: milliseconds that logic has, by default more than on a site, because a machine that runs other tests runs it late.
 * - TEST_LOG_LEVEL: the least important kind of lines in the log.
 * - TEST_USUAL_CORS: Strapi's own CORS settings instead of the project's.
 * - TEST_REFERRER_POLICY: of Strapi's own headers, instead of its default.
 * - TEST_CLOCK_AHEAD: milliseconds by which the clock is ahead.
 * - TEST_LOCALIZED: the singular names of the content types that are localized, separated by commas.
 * - TEST_RELATED: an article has related articles.
 * - TEST_PLUGIN: the folder of the plugin's package.
 * - TEST_SESSION_TIME: seconds for which a token of a user or an administrator is valid.
 */
const Module = require('node:module');
const path = require('node:path');

const { now } = Date;
const load = Module.prototype.require;

/** Replacements of the exports, by the name of the file in config/. */
let replacements = {};
/** Changes of a schema of the host, by the path of its file. */
let schemaChanges = [];

/** Reads the environment again, for the next host of a process. */
function configure(env = process.env) {
  const ahead = Number(env.TEST_CLOCK_AHEAD ?? 0);
  Date.now = ahead ? () => now() + ahead : now;
  replacements = {
    plugins: withAppsConfig,
    server: withQuietLog,
    admin: process.env.TEST_SESSION_TIME && withLongSessions,
    middlewares: withMiddlewares,
  };
  Module.prototype.require = requireReplaced;
  schemaChanges = [env.TEST_LOCALIZED && localize, env.TEST_RELATED && relate].filter(Boolean);
  if (schemaChanges.length > 0) changeSchemas();
}

function withAppsConfig(plugins) {
  const { apps } = plugins;
  const logicTime = Number(process.env.TEST_LOGIC_TIME ?? 20_000);
  const config = { ...apps.config, ...JSON.parse(process.env.TEST_APPS_CONFIG ?? '{}') };
  const resolve = process.env.TEST_PLUGIN && { resolve: process.env.TEST_PLUGIN };
  const upload = process.env.TEST_UPLOAD && { upload: { config: JSON.parse(process.env.TEST_UPLOAD) } };
  const users = plugins['users-permissions'];
  const { config: usual } = users;
  return {
    ...plugins,
    ...upload,
    'users-permissions': { ...users, config: { ...usual, sessions: { ...usual.sessions, ...sessionTime() } } },
    apps: { ...apps, ...resolve, config: { ...config, limits: { logicTime, ...config.limits } } },
  };
}

const sessionTime = () =>
  process.env.TEST_SESSION_TIME ? { accessTokenLifespan: Number(process.env.TEST_SESSION_TIME) } : {};

const withLongSessions = (admin) => ({ ...admin, auth: { ...admin.auth, sessions: sessionTime() } });

/** Without a line for each request, unless a test reads these lines: to write them takes a twentieth of a host's time. */
const withQuietLog = (server) => ({ ...server, logger: { config: { level: process.env.TEST_LOG_LEVEL ?? 'info' } } });

function withMiddlewares(middlewares) {
  const { TEST_USUAL_CORS: usualCors, TEST_REFERRER_POLICY: policy } = process.env;
  return middlewares.map((one) => {
    if (usualCors && one.name === 'strapi::cors') return 'strapi::cors';
    return policy && one === 'strapi::security' ? { name: one, config: { referrerPolicy: { policy } } } : one;
  });
}

function requireReplaced(id) {
  const loaded = load.call(this, id);
  const [, file] = /[\\/]config[\\/](\w+)(\.js)?$/.exec(id) ?? [];
  const replaced = Object.hasOwn(replacements, file ?? '') && replacements[file];
  if (!replaced || typeof loaded?.default !== 'function') return loaded;
  return { __esModule: true, default: (tools) => replaced(loaded.default(tools)) };
}

function localize(found, file) {
  const names = process.env.TEST_LOCALIZED.split(',');
  const localized = names.some((name) => file.endsWith(path.join(path.sep, 'content-types', name, 'schema.json')));
  const pluginOptions = { i18n: { localized } };
  const attributes = Object.entries(found.attributes).map(([name, one]) => [name, { ...one, pluginOptions }]);
  return { ...found, pluginOptions, attributes: Object.fromEntries(attributes) };
}

function relate(found, file) {
  if (!file.endsWith(path.join(path.sep, 'content-types', 'article', 'schema.json'))) return found;
  const related = { type: 'relation', relation: 'manyToMany', target: 'api::article.article' };
  return { ...found, attributes: { ...found.attributes, related } };
}

/** Once a process: without changes its schemas are read as they are. */
function changeSchemas() {
  // Strapi reads its schemas with this.
  const files = require(require.resolve('fs-extra', { paths: [require.resolve('@strapi/core')] }));
  if (files.readJSON.isChanged) return;
  const read = files.readJSON;
  files.readJSON = async (file, ...rest) => {
    const found = await read(file, ...rest);
    if (!/[\\/]src[\\/]api[\\/].*schema\.json$/.test(String(file))) return found;
    return schemaChanges.reduce((schema, change) => change(schema, String(file)), found);
  };
  files.readJSON.isChanged = true;
}

configure();
module.exports = { configure };
