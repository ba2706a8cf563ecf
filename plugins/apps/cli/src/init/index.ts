import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesBelow, withSchemaLine } from '../../../server/src/package-files';
import type { Run } from '../command';
import { exitCodes } from '../exit';
import { requireNewId } from '../themes';
import { showWritten, writeNew } from '../write';
import { configuration, excluded, panelServer } from './configuration';
import { editorFiles } from './editor';

/** Makes a theme with one app, the editor's settings and, where there is none, `config/plugins`. */
export const run: Run = async ({ options, output, cwd, host: find }) => {
  const host = find();
  const root = host.requireRoot();
  const theme = requireNewId('a theme', String(options.theme));
  const files = new Map<string, string>();
  for (const [path, text] of filesBelow('starter', 'theme')) {
    const inHost = path.replace(/^apps\//, `${host.config.appsFolder}/`);
    const file = join(host.themes, theme, inHost);
    files.set(file, withSchemaLine(file, path, text));
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
