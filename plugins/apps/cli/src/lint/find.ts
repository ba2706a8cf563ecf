import { join, relative, sep } from 'node:path';
import {
  type App,
  checkApp,
  type LintedApp,
  type LintProblem,
  located,
  type Report,
  sourceOf,
} from '../../../server/src/apps';
import type { Host } from '../host';
import type { LintServices } from './services';
import type { Target } from './targets';
import { checkLinks, checkTheme } from './theme';
import { checkTypes } from './types';

/** What is wrong in the files of themes and apps. */
export interface Found {
  /** It grows while apps report. */
  problems: LintProblem[];
  /** The apps that were checked, each with what it reports to, and what is put before its files. */
  apps: { app: App; report: Report; prefix: string }[];
}

/**
 * Checks themes and apps with the server's own code.
 * @param cwd the folder from which paths of files are told
 * @param withTypes whether the types of logic in TypeScript are checked too
 */
export async function findProblems(
  host: Host,
  services: LintServices,
  targets: readonly Target[],
  cwd: string,
  withTypes = false,
): Promise<Found> {
  const problems: LintProblem[] = [];
  const apps: Found['apps'] = [];
  const from = (folder: string) => `${relative(cwd, folder).split(sep).join('/')}/`.replace(/^\/$/, '');
  const reportTo =
    (linted: LintedApp): Report =>
    (finding) =>
      void problems.push(located(finding, linted));

  for (const { place, site, apps: ids, whole } of targets) {
    const theme = place.id;
    if (whole) {
      const files = (await services.sites.theme(site))?.files;
      const source = (file: string) => files?.get(file)?.text;
      await checkTheme(services, site, reportTo({ theme, app: null, prefix: from(place.folder), source }));
      const inApps = { theme, app: null, prefix: from(place.apps), source: () => undefined };
      await checkLinks(services, site, place, reportTo(inApps));
    }
    const reports = new Map<string, Report>();
    for (const id of ids) {
      const app = await services.loadApp(site, id);
      if (!app) continue;
      const prefix = from(join(place.apps, id));
      const report = reportTo({ theme, app: id, prefix, source: (file) => sourceOf(app, file) });
      reports.set(id, report);
      apps.push({ app, report, prefix });
      await checkApp(services, app, report);
    }
    if (withTypes) checkTypes(host, place, reports);
  }
  return { problems, apps };
}

/** How many themes, apps and blocks were checked. */
export const countsOf = (targets: readonly Target[], { apps }: Found) => ({
  themes: targets.length,
  apps: apps.length,
  blocks: apps.reduce((sum, { app }) => sum + app.blocks.size, 0),
});
