import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { watchingPanel } from '../../server/src/host-files';
import { filesBelow, relativePath, schemasFolder, withSchemaLine } from '../../server/src/package-files';
import { exitCodes, type RunCommand } from './command';
import { configuredFiles, type Host, pluginConfiguration } from './host';
import { showWritten, writeNew } from './output';
import { requireNewId } from './themes';

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
function excluded(root: string, themes: string): string | null {
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
interface PanelServer {
  file: string;
  /** Its text, where there is no such file yet. */
  text: string | null;
}

/** Null where nothing is to be done. */
function panelServer(root: string, themes: string): PanelServer | null {
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

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Settings of Visual Studio Code: the YAML schemas of theme files, and the extensions that use them. */
function editorFiles(root: string, { themes, config }: Host): Map<string, string> {
  const schemas = relativePath(root, schemasFolder(root));
  const below = relativePath(root, themes).replace(/^\.\//, '');
  const theme = below.startsWith('..') ? `**/*` : `${below}/*`;
  const app = `${theme}/${config.appsFolder}/*`;
  const settings = {
    'yaml.schemas': {
      [`${schemas}/definition.json`]: `${app}/blocks/*.{yaml,yml}`,
      [`${schemas}/settings.json`]: `${app}/settings.yaml`,
      [`${schemas}/theme.json`]: `${theme}/theme.yaml`,
      [`${schemas}/rules.json`]: `${theme}/rules.yaml`,
    },
  };
  const extensions = { recommendations: ['redhat.vscode-yaml', 'sissel.shopify-liquid'] };
  return new Map([
    [join(root, '.vscode', 'settings.json'), json(settings)],
    [join(root, '.vscode', 'extensions.json'), json(extensions)],
  ]);
}

/** Makes a theme with one app, the editor's settings and, where there is none, `config/plugins`. */
export const run: RunCommand = async ({ options, output, cwd, host: find }) => {
  const host = find();
  const root = host.requireRoot();
  const theme = requireNewId('a theme', String(options.theme));
  const files = new Map<string, string>();
  for (const [path, text] of filesBelow('starter', 'theme')) {
    const inHost = path.replace(/^apps\//, `${host.config.appsFolder}/`);
    const file = join(host.themes, theme, inHost);
    const own = path === 'tsconfig.json' ? text.replaceAll('"apps/', `"${host.config.appsFolder}/`) : text;
    files.set(file, withSchemaLine(file, path, own));
  }
  for (const [file, text] of editorFiles(root, host)) files.set(file, text);
  const { file, text, lines } = configuration(root, host.themes, theme);
  if (text !== null) files.set(file, text);
  const panel = panelServer(root, host.themes);
  if (panel && panel.text !== null) files.set(panel.file, panel.text);
  const written = writeNew(files);

  showWritten(written, cwd, output);
  const shownConfig = relative(cwd, file);
  if (lines !== null) output.line(`\nAdd this to ${shownConfig}:\n\n${lines}`);
  const exclude = excluded(root, host.themes);
  if (exclude !== null)
    output.line(
      `\nAdd "${exclude}" to "exclude" in tsconfig.json, so that the host's compiler leaves theme files alone.`,
    );
  if (panel && panel.text === null)
    output.line(
      `\nLet ${relative(cwd, panel.file)} ignore the themes folder (docs/reference/installation.md#typescript-applications), so that a saved theme file does not reload the admin panel.`,
    );
  output.line(`
Next:
  npx strapi-plugin-apps dev
  open http://localhost:1337/${host.config.sites[0]?.id ?? 'site'}/
  npx strapi-plugin-apps new app poll --from poll
  npx strapi-plugin-apps lint`);
  output.data({
    ...written,
    theme,
    ...(lines === null ? {} : { add: { file, lines } }),
    ...(exclude === null ? {} : { exclude }),
    ...(panel?.text === null ? { panel: panel.file } : {}),
  });
  if (!existsSync(join(root, 'node_modules'))) output.note('The host has no node_modules yet: run `npm install`.');
  return exitCodes.fine;
};
