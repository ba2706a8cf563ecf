import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { filesBelow, packed } from '../../../server/src/archive';
import type { Invocation } from '../command';
import { CannotRun, type ExitCode, exitCodes } from '../exit';
import { chosenTheme, requireId, type ThemePlace } from '../themes';

/** Writes the files of `<theme>` or `<theme>/<app>` to a ZIP (docs/reference/import-export.md#apps-and-themes-as-zip). */
export async function exportFiles(
  { output, cwd, host }: Invocation,
  { source, file: given }: { source: string; file: string },
): Promise<ExitCode> {
  const file = resolve(cwd, given);
  const [themeId = '', app, ...more] = source.split('/');
  if (more.length > 0) throw new CannotRun(`"${source}" is no <theme> and no <theme>/<app>`);
  const theme = chosenTheme(host(), themeId);
  const folder = app === undefined ? theme.folder : appFolder(theme, app);
  const paths = await filesBelow(folder, (path) => output.note(`${path} is a link, and left out`));
  const show = output.progress('Pack', paths.length);
  await pack(file, folder, app ?? themeId, paths);
  show(paths.length, true);
  output.line(`${paths.length} files of ${source} exported to ${file}`);
  output.data({ file, files: paths.length });
  return exitCodes.fine;
}

function appFolder(theme: ThemePlace, app: string): string {
  const folder = join(theme.apps, requireId('an app', app));
  if (existsSync(folder)) return folder;
  if (existsSync(`${folder}.lnk`)) {
    throw new CannotRun(
      `The app "${app}" of the theme "${theme.id}" is a link`,
      `Export it from the theme that ${folder}.lnk names.`,
    );
  }
  throw new CannotRun(`There is no app "${app}" in the theme "${theme.id}"`);
}

/** Written to `<file>.part`, renamed at the end. */
async function pack(file: string, folder: string, root: string, paths: readonly string[]): Promise<void> {
  const part = `${file}.part`;
  try {
    await pipeline(packed(folder, root, paths), createWriteStream(part));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw new CannotRun(`${file} cannot be written: ${(error as Error).message}`);
  }
}
