import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { blockFiles } from '../../../server/src/app-templates';
import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import { showWritten, writeNew } from '../output';
import { chosenTheme, requireId, requireNewId, type ThemePlace } from '../themes';

/** Adds a block that works: a layout, a definition, and logic. */
export const run: Run = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const theme = chosenTheme(host, options.theme as string | undefined);
  const [appId = '', blockId = '', ...others] = String(args.path).split('/');
  if (blockId === '' || others.length > 0) {
    throw new CannotRun(`"${args.path}" names no block`, 'Write <app>/<block>, for example: new block poll/results');
  }
  const [app, block] = [requireId('an app', appId), requireNewId('a block', blockId)];
  const folder = appFolder(theme, app);
  refuseTaken(folder, app, block);
  const written = writeNew(blockFiles(folder, block, String(options.language)));
  const url = `/${host.config.sites[0]?.id}/@@apps/${app}/blocks/${block}`;
  showWritten(written, cwd, output);
  output.line(`\nIts page:\n  ${url}`);
  output.data({ ...written, theme: theme.id, app, block, pages: [url] });
  return exitCodes.fine;
};

function appFolder({ id: theme, apps }: ThemePlace, app: string): string {
  const folder = join(apps, app);
  if (existsSync(folder)) return folder;
  if (existsSync(`${folder}.lnk`)) {
    throw new CannotRun(
      `The app "${app}" of the theme "${theme}" is a link`,
      'Name the theme that holds the app with --theme.',
    );
  }
  throw new CannotRun(
    `There is no app "${app}" in the theme "${theme}"`,
    `Make it with \`npx strapi-plugin-apps new app ${app}\`.`,
  );
}

/** A second layout or logic file would break the block, also one in another language. */
function refuseTaken(folder: string, app: string, block: string): void {
  const blocks = join(folder, 'blocks');
  const names = existsSync(blocks) ? readdirSync(blocks) : [];
  const taken = names.find((name) => name.replace(/\.[a-z]+$/, '') === block);
  if (taken !== undefined)
    throw new CannotRun(`The app "${app}" has a block "${block}" already: ${join(blocks, taken)}`);
}
