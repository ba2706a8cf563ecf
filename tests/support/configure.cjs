/**
 * Required before a host (NODE_OPTIONS): puts TEST_APPS_CONFIG, JSON, over the plugin's part of config/plugins, takes
 * Strapi's own CORS settings with TEST_USUAL_CORS, lets its clock run TEST_CLOCK_AHEAD milliseconds early, and makes the
 * content types of TEST_LOCALIZED, singular names separated by commas, localized, and no other one.
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

if (process.env.TEST_LOCALIZED) {
  // Strapi reads its schemas with this.
  const files = require(require.resolve('fs-extra', { paths: [require.resolve('@strapi/core')] }));
  const read = files.readJSON;
  const schemas = process.env.TEST_LOCALIZED.split(',').map((name) => path.join('content-types', name, 'schema.json'));
  files.readJSON = async (file, ...rest) => {
    const found = await read(file, ...rest);
    if (!/[\\/]src[\\/]api[\\/].*schema\.json$/.test(String(file))) return found;
    const localized = schemas.some((schema) => String(file).endsWith(path.sep + schema));
    const pluginOptions = { i18n: { localized } };
    const attributes = Object.entries(found.attributes).map(([name, one]) => [name, { ...one, pluginOptions }]);
    return { ...found, pluginOptions, attributes: Object.fromEntries(attributes) };
  };
}
