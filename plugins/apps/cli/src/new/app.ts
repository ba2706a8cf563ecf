import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { appFiles } from '../../../server/src/app-templates';
import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import type { Host } from '../host';
import { chosenTheme, requireNewId, type ThemePlace } from '../themes';
import { showWritten, writeNew } from '../write';

/** Adds an app: a template's files, or settings and one block. */
export const run: Run = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const id = requireNewId('an app', String(args.id));
  const theme = chosenTheme(host, options.theme as string | undefined);
  refuseTaken(theme, id);
  const written = writeNew(appFiles(join(theme.apps, id), id, options.from as string | undefined));
  const urls = pagesOf(theme, host, id);
  showWritten(written, cwd, output);
  output.line(`\nIts pages:\n${urls.map((url) => `  ${url}`).join('\n')}`);
  output.data({ ...written, theme: theme.id, app: id, pages: urls });
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

/** Addresses of the blocks that have a layout. */
function pagesOf({ apps }: ThemePlace, { config }: Host, id: string): string[] {
  const layouts = readdirSync(join(apps, id, 'blocks')).filter((name) => name.endsWith('.html'));
  return layouts.sort().map((name) => `/${config.sites[0]?.id}/@@apps/${id}/blocks/${name.slice(0, -'.html'.length)}`);
}
