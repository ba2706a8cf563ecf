import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isId, newIdProblem } from '../../server/src/sites';
import { CannotRun } from './command';
import type { Host } from './host';

export interface ThemePlace {
  id: string;
  /** Absolute path of the theme's folder. */
  folder: string;
  /** Absolute path of the folder that holds its apps. */
  apps: string;
}

const themePlace = ({ themes, config }: Host, id: string): ThemePlace => ({
  id,
  folder: join(themes, id),
  apps: join(themes, id, config.appsFolder),
});

/** Ids of the folders in the themes folder, sorted. Throws CannotRun when there is no themes folder. */
function themeIds({ themes }: Host): string[] {
  if (!existsSync(themes)) {
    throw new CannotRun(
      `There is no themes folder ${themes}`,
      'Make one with `npx strapi-plugin-apps init`, or name it with --themes.',
    );
  }
  return readdirSync(themes)
    .filter((name) => isId(name) && statSync(join(themes, name), { throwIfNoEntry: false })?.isDirectory())
    .sort();
}

/** All themes of the host. */
export const allThemes = (host: Host): ThemePlace[] => themeIds(host).map((id) => themePlace(host, id));

/**
 * The theme that gets something new: the one of `--theme`, else the one of the configuration's first site, else the only one.
 * Throws CannotRun when none or several are left.
 */
export function chosenTheme(host: Host, wanted: string | undefined): ThemePlace {
  const known = themeIds(host);
  if (wanted !== undefined) {
    if (known.includes(wanted)) return themePlace(host, wanted);
    throw new CannotRun(
      `There is no theme "${wanted}" in ${host.themes}`,
      known.length > 0 ? `There are: ${known.join(', ')}` : INIT,
    );
  }
  const configured = host.config.sites[0]?.theme;
  if (configured !== undefined && known.includes(configured)) return themePlace(host, configured);
  const [first, ...others] = known;
  if (first === undefined) throw new CannotRun(`There is no theme in ${host.themes}`, INIT);
  if (others.length > 0)
    throw new CannotRun('There are several themes', `Choose one with --theme: ${known.join(', ')}`);
  return themePlace(host, first);
}

const INIT = 'Make one with `npx strapi-plugin-apps init`.';

/** Throws CannotRun for a name that is no id of the server (docs/reference/terms.md#ids). */
export function requireId(what: string, id: string): string {
  if (isId(id)) return id;
  throw new CannotRun(
    `"${id}" cannot be the id of ${what}`,
    'An id has letters, digits, "_", "-" and single dots, and begins with a letter, a digit or "_".',
  );
}

/** Throws CannotRun for what cannot be the id of something new, because no folder or file can have the name on every system. */
export function requireNewId(what: string, id: string): string {
  const problem = newIdProblem(requireId(what, id));
  if (problem === null) return id;
  throw new CannotRun(`"${id}" cannot be the id of ${what}: it ${problem}`, 'Choose another id.');
}
