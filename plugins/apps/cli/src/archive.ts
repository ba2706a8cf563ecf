import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  ArchiveError,
  archiveLimits,
  type Differences,
  filesBelow,
  type Imported,
  importArchive,
  packed,
} from '../../server/src/archive';
import { CannotRun, type ExitCode, exitCodes, type Invocation } from './command';
import { chosenTheme, requireId, type ThemePlace } from './themes';

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

/** Reads an app or a theme from a ZIP (docs/reference/import-export.md#apps-and-themes-as-zip). */
export async function importFiles(invocation: Invocation, given: string): Promise<ExitCode> {
  const { output, cwd, host: find, options } = invocation;
  const file = resolve(cwd, given);
  const host = find();
  let show: ((done: number, force?: boolean) => void) | undefined;
  const imported = await importArchive({
    file,
    themesDirectory: host.themes,
    appsFolder: host.config.appsFolder,
    id: options.id as string | undefined,
    fallback: basename(file).replace(/\.zip$/i, ''),
    themeOf: () => chosenTheme(host, options.theme as string | undefined),
    replace: options.replace === true,
    write: true,
    requireApp: options.theme !== undefined,
    onProgress(done, total) {
      show ??= output.progress('Unpack', total);
      show(done, done === total);
    },
  }).catch((error: unknown) => {
    throw error instanceof ArchiveError ? new CannotRun(error.message, error.cure) : error;
  });
  return imported.problems ? refuse(output, imported.problems) : report(output, imported);
}

function report(
  output: Invocation['output'],
  { contents: { kind, id, files }, target, state, differences: found }: Extract<Imported, { problems: null }>,
): ExitCode {
  const replaced = found !== null && state === 'written';
  const result = { kind, id, folder: target, files: files.size, replaced, differences: found };
  if (state === 'equal') {
    output.line(`The ${kind} "${id}" is there already, with equal files: ${target}`);
  } else if (found && state === 'taken') {
    showDifferences(output, found);
    output.note(
      `${output.paint('red', 'error:')} The ${kind} "${id}" is there already: ${target}\n  --replace replaces it.`,
    );
    output.data({ ...result, error: `The ${kind} "${id}" is there already` });
    return exitCodes.problems;
  } else {
    if (found) showDifferences(output, found);
    output.line(`${files.size} files of the ${kind} "${id}" ${found ? 'replaced' : 'imported'}: ${target}`);
  }
  output.data(result);
  return exitCodes.fine;
}

function showDifferences(output: Invocation['output'], { added, changed, removed }: Differences): void {
  for (const [what, paths] of Object.entries({ added, changed, removed }))
    for (const path of paths) output.line(`${what.padEnd(7)}  ${path}`);
}

/** Problems that are printed, of one ZIP. */
const MAX_SHOWN = 50;

function refuse(output: Invocation['output'], problems: string[]): ExitCode {
  for (const problem of problems.slice(0, MAX_SHOWN)) output.note(`${output.paint('red', 'error:')} ${problem}`);
  if (problems.length > MAX_SHOWN) output.note(`… and ${problems.length - MAX_SHOWN} more`);
  output.note('Nothing was written.');
  output.data({ problems: problems.slice(0, archiveLimits.entries) });
  return exitCodes.problems;
}
