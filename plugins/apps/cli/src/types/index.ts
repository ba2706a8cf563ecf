import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type App, loadApp } from '../../../server/src/apps';
import { sitesOfThemes } from '../../../server/src/archive';
import { errorText } from '../../../server/src/common/errors';
import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import { chosenTheme } from '../themes';
import { declarations, HEADER } from './declarations';

/** Writes `app.d.ts` into the folders of apps, without a database (docs/reference/command-line.md#types-app). */
export const run: Run = async ({ args, options, output, cwd, host: find }) => {
  const host = find();
  const [first, second] = (args.app ?? '').split('/');
  const wanted = second ?? first;
  const theme = chosenTheme(host, second === undefined ? (options.theme as string | undefined) : first);
  const reader = sitesOfThemes(host.config, [theme.id], output.note);
  const site = await reader.site(theme.id);
  if (!site) throw new CannotRun(`There is no theme "${theme.id}"`);
  // Of a linked app, the theme that holds it writes the types.
  const own = (await reader.apps(site)).filter((id) => existsSync(join(theme.apps, id))).sort();
  if (wanted && !own.includes(wanted)) throw new CannotRun(`There is no app "${wanted}" in the theme "${theme.id}"`);
  const written: string[] = [];
  const problems: string[] = [];
  for (const id of wanted ? [wanted] : own) {
    const folder = await reader.app(site, id);
    if (!folder) continue;
    const app = await loadApp(folder);
    for (const { error } of app.blocks.values()) if (error) problems.push(errorText(error, `${id}/`));
    written.push(write(join(theme.apps, id, 'app.d.ts'), app));
  }
  for (const file of written) output.line(`${output.paint('green', 'written')}  ${relative(cwd, file)}`);
  for (const problem of problems) output.note(`${output.paint('red', 'error:')} ${problem}: its types are left out`);
  output.data({ written, problems });
  return problems.length > 0 ? exitCodes.problems : exitCodes.fine;
};

function write(file: string, app: App): string {
  if (existsSync(file) && !readFileSync(file, 'utf8').startsWith(HEADER)) {
    throw new CannotRun(`${file} was not written by this command, and is not overwritten`, 'Move it, or delete it.');
  }
  writeFileSync(file, declarations(app));
  return file;
}
