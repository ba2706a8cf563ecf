/**
 * Required before a host (NODE_OPTIONS): puts TEST_APPS_CONFIG, JSON, over the plugin's part of config/plugins, takes
 * Strapi's own CORS settings with TEST_USUAL_CORS, and lets its clock run TEST_CLOCK_AHEAD milliseconds early.
 */
const Module = require('node:module');

const ahead = Number(process.env.TEST_CLOCK_AHEAD ?? 0);
if (ahead) {
  const now = Date.now;
  Date.now = () => now() + ahead;
}

/** What is exported instead, by the name of the file in config/. */
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
