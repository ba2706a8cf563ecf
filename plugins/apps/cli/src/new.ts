import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { appFiles, blockFiles, linkedLayout } from '../../server/src/app-templates';
import { CannotRun, exitCodes, type RunCommand } from './command';
import type { Host } from './host';
import { showWritten, writeNew } from './output';
import { chosenTheme, requireId, requireNewId, type ThemePlace } from './themes';

/** Adds an app: a template's files, or settings and one block; and a link to it in the starter's layout. */
export const newApp: RunCommand = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const id = requireNewId('an app', String(args.id));
  const theme = chosenTheme(host, options.theme as string | undefined);
  refuseTakenApp(theme, id);
  const written = writeNew(appFiles(join(theme.apps, id), id, options.from as string | undefined));
  const layout = link(theme, id, options.from as string | undefined);
  const urls = pagesOf(theme, host, id);
  showWritten(written, cwd, output);
  if (layout !== null) output.line(`${output.paint('green', 'linked')}  ${relative(cwd, layout)}`);
  output.line(`\nIts pages:\n${urls.map((url) => `  ${url}`).join('\n')}`);
  output.data({ ...written, theme: theme.id, app: id, pages: urls, linked: layout });
  return exitCodes.fine;
};

function refuseTakenApp({ id: theme, apps }: ThemePlace, id: string): void {
  const taken = [join(apps, id), join(apps, `${id}.lnk`)].find((path) => existsSync(path));
  if (taken !== undefined) {
    throw new CannotRun(
      `The theme "${theme}" has an app "${id}" already: ${taken}`,
      'Choose another id, or delete it first.',
    );
  }
}

/** Adds a link to the theme's layout, where that has a place for it. @returns the layout's file; null where it was not changed */
function link({ folder }: ThemePlace, id: string, template: string | undefined): string | null {
  const file = join(folder, 'layout.html');
  const text = existsSync(file) ? linkedLayout(readFileSync(file, 'utf8'), id, template) : null;
  if (text === null) return null;
  writeFileSync(file, text);
  return file;
}

/** Addresses of the blocks that have a layout. */
function pagesOf({ apps }: ThemePlace, { config }: Host, id: string): string[] {
  const layouts = readdirSync(join(apps, id, 'blocks')).filter((name) => name.endsWith('.html'));
  return layouts.sort().map((name) => `/${config.sites[0]?.id}/@@apps/${id}/blocks/${name.slice(0, -'.html'.length)}`);
}

/** Adds a block that works: a layout, a definition, and logic. */
export const newBlock: RunCommand = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const theme = chosenTheme(host, options.theme as string | undefined);
  const [appId = '', blockId = '', ...others] = String(args.path).split('/');
  if (blockId === '' || others.length > 0) {
    throw new CannotRun(`"${args.path}" names no block`, 'Write <app>/<block>, for example: new block poll/results');
  }
  const [app, block] = [requireId('an app', appId), requireNewId('a block', blockId)];
  const folder = appFolder(theme, app);
  refuseTakenBlock(folder, app, block);
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
function refuseTakenBlock(folder: string, app: string, block: string): void {
  const blocks = join(folder, 'blocks');
  const names = existsSync(blocks) ? readdirSync(blocks) : [];
  const taken = names.find((name) => name.replace(/\.[a-z]+$/, '') === block);
  if (taken !== undefined)
    throw new CannotRun(`The app "${app}" has a block "${block}" already: ${join(blocks, taken)}`);
}
