import path from 'node:path';
import type { SetupProblem } from '../../../../shared/admin-api';
import type { Site } from '../types';

/** Writes a first theme and names it in the configuration. */
const starter = 'npx strapi-plugin-apps init';

/**
 * What is missing on the disk for these sites, each with its cure (docs/reference/installation.md#checks-at-the-start).
 * @param directory absolute path of the folder of all themes; messages show it relative to the working folder
 * @param themes ids of the themes in it
 */
export function themeProblems(directory: string, themes: readonly string[], sites: readonly Site[]): SetupProblem[] {
  const folder = path.relative(process.cwd(), directory) || directory;
  if (themes.length === 0) {
    return [
      { message: `There is no theme in the folder ${folder}: the sites have no pages and no apps`, cure: starter },
    ];
  }
  return sites
    .filter(({ theme }) => !themes.includes(theme))
    .map(({ id, theme }) => ({
      message:
        `The site "${id}" uses the theme "${theme}", which the folder ${folder} does not have. Choose one that it has ` +
        "on the plugin's page of the admin panel, or name it in config/plugins",
      cure: `theme: '${themes[0]}'`,
    }));
}
