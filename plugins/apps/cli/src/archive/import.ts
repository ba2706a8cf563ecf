import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Invocation } from '../command';
import { CannotRun, type ExitCode, exitCodes } from '../exit';
import { chosenTheme, type ThemePlace } from '../themes';
import { type Contents, contentsOf } from './contents';
import { definitionProblems } from './definitions';
import { archiveLimits, filesOf, openArchive } from './entries';
import { type Differences, differences } from './files';
import { exists, putInPlace } from './replace';
import { unpack } from './unpack';

/** Where an app or theme is put. */
interface Place {
  target: string;
  /** Folder of the temporary files, on the same file system. */
  base: string;
  /** The theme that gets an app. */
  theme: ThemePlace | null;
}

/**
 * Reads an app or a theme from a ZIP (docs/reference/import-export.md#apps-and-themes-as-zip). It is checked before it is
 * written, written to a temporary folder, and renamed at the end.
 */
export async function importFiles(invocation: Invocation, given: string): Promise<ExitCode> {
  const { output, cwd, host, options } = invocation;
  const file = resolve(cwd, given);
  const { appsFolder } = host().config;
  const zip = await openArchive(file);
  try {
    const { files, problems } = await readEntries(zip, file);
    if (problems.length > 0) return refuse(output, problems);
    const fallback = basename(file).replace(/\.zip$/i, '');
    const contents = contentsOf(files, { appsFolder, id: options.id as string | undefined, fallback });
    if (typeof contents === 'string') return refuse(output, [contents]);
    const place = placeOf(invocation, contents);
    const temporary = mkdtempSync(join(place.base, '.import-'));
    try {
      const fresh = await unpackInto(invocation, zip, contents, place, temporary);
      if (fresh.problems.length > 0) return refuse(output, fresh.problems);
      return settle(invocation, contents, place, fresh.folder);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  } finally {
    zip.close();
  }
}

/** The files and problems of a ZIP; a directory that cannot be read is a problem. */
async function readEntries(zip: Parameters<typeof filesOf>[0], file: string) {
  try {
    return await filesOf(zip);
  } catch (error) {
    throw new CannotRun(`${file} cannot be read as a ZIP: ${(error as Error).message}`);
  }
}

function placeOf({ host: find, options }: Invocation, { kind, id }: Contents): Place {
  const host = find();
  if (kind === 'theme') {
    if (options.theme !== undefined)
      throw new CannotRun('The ZIP holds a theme, not an app', 'Leave out --theme; --id names it.');
    mkdirSync(host.themes, { recursive: true });
    return { target: join(host.themes, id), base: host.themes, theme: null };
  }
  const theme = chosenTheme(host, options.theme as string | undefined);
  const link = join(theme.apps, `${id}.lnk`);
  if (existsSync(link))
    throw new CannotRun(`The app "${id}" of the theme "${theme.id}" is a link: ${link}`, 'Delete it first.');
  return { target: join(theme.apps, id), base: theme.folder, theme };
}

/** Unpacks into a themes folder of its own, in which the definitions are checked as the server reads them. */
async function unpackInto(
  { host, output }: Invocation,
  zip: Parameters<typeof unpack>[0],
  { kind, id, files }: Contents,
  { theme }: Place,
  temporary: string,
): Promise<{ folder: string; problems: string[] }> {
  const { appsFolder } = host().config;
  const themeId = kind === 'theme' ? id : 'theme';
  const themeFolder = join(temporary, themeId);
  const folder = kind === 'theme' ? themeFolder : join(themeFolder, appsFolder, id);
  const show = output.progress('Unpack', files.size);
  try {
    await unpack(zip, files, folder, show);
  } catch (error) {
    return { folder, problems: [`The ZIP is damaged, or not what it says: ${(error as Error).message}`] };
  }
  show(files.size, true);
  // It says how the definitions of the theme's apps are read.
  const info = theme && join(theme.folder, 'theme.yaml');
  if (info && existsSync(info)) copyFileSync(info, join(themeFolder, 'theme.yaml'));
  return { folder, problems: await definitionProblems({ themesDirectory: temporary, appsFolder, theme: themeId }) };
}

/** Puts the new folder in its place, if nothing is there or it may be replaced. */
function settle(
  { output, options }: Invocation,
  { kind, id, files }: Contents,
  { target, base }: Place,
  fresh: string,
): ExitCode {
  const isTaken = exists(target);
  const found = isTaken ? differences(target, fresh) : null;
  const isEqual = found !== null && Object.values(found).every((paths: string[]) => paths.length === 0);
  const result = { kind, id, folder: target, files: files.size, replaced: isTaken && !isEqual, differences: found };
  if (isEqual) {
    output.line(`The ${kind} "${id}" is there already, with equal files: ${target}`);
  } else if (found && options.replace !== true) {
    showDifferences(output, found);
    output.note(
      `${output.paint('red', 'error:')} The ${kind} "${id}" is there already: ${target}\n  --replace replaces it.`,
    );
    output.data({ ...result, replaced: false, error: `The ${kind} "${id}" is there already` });
    return exitCodes.problems;
  } else {
    if (found) showDifferences(output, found);
    putInPlace(fresh, target, base);
    output.line(`${files.size} files of the ${kind} "${id}" ${isTaken ? 'replaced' : 'imported'}: ${target}`);
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
