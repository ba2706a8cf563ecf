import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { appFiles, linkedLayout } from '../../../server/src/app-templates';
import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import type { Host } from '../host';
import { showWritten, writeNew } from '../output';
import { chosenTheme, requireNewId, type ThemePlace } from '../themes';

/** Adds an app: a template's files, or settings and one block; and a link to it in the starter's layout. */
export const run: Run = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const id = requireNewId('an app', String(args.id));
  const theme = chosenTheme(host, options.theme as string | undefined);
  refuseTaken(theme, id);
  const written = writeNew(appFiles(join(theme.apps, id), id, options.from as string | undefined));
  const layout = link(theme, id, options.from as string | undefined);
  const urls = pagesOf(theme, host, id);
  showWritten(written, cwd, output);
  if (layout !== null) output.line(`${output.paint('green', 'linked')}  ${relative(cwd, layout)}`);
  output.line(`\nIts pages:\n${urls.map((url) => `  ${url}`).join('\n')}`);
  output.data({ ...written, theme: theme.id, app: id, pages: urls, linked: layout });
  return exitCodes.fine;
};

function refuseTaken({ id: theme, apps }: ThemePlace, id: string): void {
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
