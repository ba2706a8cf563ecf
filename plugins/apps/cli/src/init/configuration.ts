import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchingPanel } from '../../../server/src/host-files';
import { relativePath } from '../../../server/src/package-files';
import { configuredFiles, pluginConfiguration } from '../host/settings';

interface Configuration {
  /** `config/plugins` of the host, with the ending of its language. */
  file: string;
  /** Its text, where there is no such file yet. */
  text: string | null;
  /** Lines to add to a file that exists; null where the plugin is in it, or the file is new. */
  lines: string | null;
}

/** The entry of the plugin in the host's configuration: a new file, or lines to add to the one that exists. */
export function configuration(root: string, themes: string, theme: string): Configuration {
  const [existing] = configuredFiles(root);
  const entry = entryOf(relativePath(root, themes), theme);
  if (existing !== undefined) {
    return { file: existing, text: null, lines: isConfigured(existing) ? null : indented(entry, '  ') };
  }
  const ending = existsSync(join(root, 'tsconfig.json')) ? 'ts' : 'js';
  const wrap = wrappers[ending];
  return { file: join(root, 'config', `plugins.${ending}`), text: wrap(indented(entry, '  ')), lines: null };
}

/**
 * The entry for `exclude` in the host's `tsconfig.json`: its compiler would take the logic of themes for a part of the host.
 * Null for a host without that file, one that names the folder already, and a themes folder that is elsewhere.
 */
export function excluded(root: string, themes: string): string | null {
  const file = join(root, 'tsconfig.json');
  const folder = relativePath(root, themes).replace(/^\.\//, '');
  if (folder.startsWith('..') || !existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  return [folder, `${folder}/`].some((name) => text.includes(JSON.stringify(name))) ? null : `${folder}/`;
}

/**
 * The configuration of the panel's development server: it watches the whole application, and a saved `.html` file of a theme would
 * reload every open page of the panel.
 */
export interface PanelServer {
  file: string;
  /** Its text, where there is no such file yet. */
  text: string | null;
}

/** Null where nothing is to be done. */
export function panelServer(root: string, themes: string): PanelServer | null {
  const found = watchingPanel(root, themes);
  if (!found) return null;
  const { file, isThere, ignored } = found;
  return { file, text: isThere ? null : panelServers[file.endsWith('js') ? 'js' : 'ts'](quoted(ignored)) };
}

function isConfigured(file: string): boolean {
  try {
    return pluginConfiguration(file) !== undefined;
  } catch {
    return false;
  }
}

const entryOf = (themes: string, theme: string) => `apps: {
  enabled: true,
  config: {
    themesDirectory: ${quoted(themes)},
    sites: [{ id: 'site', title: 'My site', theme: ${quoted(theme)} }],
  },
},`;

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;

const indented = (text: string, by: string) => text.replace(/^/gm, by);

const panelServers = {
  js: (ignored: string) => `// Saved theme files do not reload the admin panel.
module.exports = (config) => ({
  ...config,
  server: { ...config.server, watch: { ...config.server?.watch, ignored: [${ignored}] } },
});
`,
  ts: (ignored: string) => `import type { UserConfig } from 'vite';

// Saved theme files do not reload the admin panel.
export default (config: UserConfig): UserConfig => ({
  ...config,
  server: { ...config.server, watch: { ...config.server?.watch, ignored: [${ignored}] } },
});
`,
};

const wrappers = {
  js: (entry: string) => `module.exports = () => ({\n${entry}\n});\n`,
  ts: (entry: string) => `import type { Core } from '@strapi/strapi';

const config = (): Core.Config.Plugin => ({
${entry}
});

export default config;
`,
};
