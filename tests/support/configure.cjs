/**
 * Required before a host (NODE_OPTIONS): puts TEST_APPS_CONFIG, JSON, over the plugin's part of config/plugins, and lets
 * its clock run TEST_CLOCK_AHEAD milliseconds early.
 */
const Module = require('node:module');

const ahead = Number(process.env.TEST_CLOCK_AHEAD ?? 0);
if (ahead) {
  const now = Date.now;
  Date.now = () => now() + ahead;
}

if (process.env.TEST_APPS_CONFIG) {
  const load = Module.prototype.require;
  Module.prototype.require = function require(id) {
    const loaded = load.call(this, id);
    if (!/[\\/]config[\\/]plugins(\.js)?$/.test(id) || typeof loaded?.default !== 'function') return loaded;
    const plugins = (tools) => {
      const all = loaded.default(tools);
      return {
        ...all,
        apps: { ...all.apps, config: { ...all.apps.config, ...JSON.parse(process.env.TEST_APPS_CONFIG) } },
      };
    };
    return { __esModule: true, default: plugins };
  };
}
