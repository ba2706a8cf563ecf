/**
 * Required before a host (NODE_OPTIONS): puts TEST_APPS_CONFIG, JSON, over the plugin's part of config/plugins, takes
 * Strapi's own CORS settings with TEST_USUAL_CORS, lets its clock run TEST_CLOCK_AHEAD milliseconds early, and makes the
 * content types of TEST_LOCALIZED, singular names separated by commas, localized, and no other one. With TEST_RELATED an article
 * has related articles.
 */
const Module = require('node:module');
const path = require('node:path');

const ahead = Number(process.env.TEST_CLOCK_AHEAD ?? 0);
if (ahead) {
  const now = Date.now;
  Date.now = () => now() + ahead;
}

/** Replacements of the exports, by the name of the file in config/. */
const replacements = {
  plugins: process.env.TEST_APPS_CONFIG && withAppsConfig,
  middlewares: process.env.TEST_USUAL_CORS && withUsualCors,
};

function withAppsConfig(plugins) {
  const { apps } = plugins;
  return {
    ...plugins,
    apps: { ...apps, config: { ...apps.config, ...JSON.parse(process.env.TEST_APPS_CONFIG) } },
  };
}

function withUsualCors(middlewares) {
  return middlewares.map((one) => (one.name === 'strapi::cors' ? 'strapi::cors' : one));
}

if (Object.values(replacements).some(Boolean)) {
  const load = Module.prototype.require;
  Module.prototype.require = function require(id) {
    const loaded = load.call(this, id);
    const [, file] = /[\\/]config[\\/](\w+)(\.js)?$/.exec(id) ?? [];
    const replaced = Object.hasOwn(replacements, file ?? '') && replacements[file];
    if (!replaced || typeof loaded?.default !== 'function') return loaded;
    return { __esModule: true, default: (tools) => replaced(loaded.default(tools)) };
  };
}

/** Changes of a schema of the host, by the path of its file. */
const schemaChanges = [process.env.TEST_LOCALIZED && localize, process.env.TEST_RELATED && relate].filter(Boolean);

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

if (schemaChanges.length > 0) {
  // Strapi reads its schemas with this.
  const files = require(require.resolve('fs-extra', { paths: [require.resolve('@strapi/core')] }));
  const read = files.readJSON;
  files.readJSON = async (file, ...rest) => {
    const found = await read(file, ...rest);
    if (!/[\\/]src[\\/]api[\\/].*schema\.json$/.test(String(file))) return found;
    return schemaChanges.reduce((schema, change) => change(schema, String(file)), found);
  };
}
