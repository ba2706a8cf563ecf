import { join, relative, sep } from 'node:path';
import {
  type App,
  checkApp,
  isUnknown,
  type LintedApp,
  type LintProblem,
  located,
  namesInRights,
  type Report,
  sourceOf,
} from '../../../server/src/apps';
import { lookUpNames } from '../../../server/src/auth';
import { didYouMean } from '../../../server/src/common/text';
import type { Site } from '../../../server/src/sites/types';
import { CannotRun } from '../exit';
import { type Host, withStrapi } from '../host';
import type { ThemePlace } from '../themes';
import { checkLinks, checkTheme } from './theme';
import { checkTypes, type LintServices } from './types';

/** What is wrong in the files of themes and apps. */
interface Found {
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

/** Looks up the users and groups that apps name, in the host's database. @param apps each with what it reports to */
export function checkNames(host: Host, apps: readonly { app: App; report: Report }[]): Promise<void> {
  return withStrapi(host, async (strapi) => {
    for (const { app, report } of apps) {
      const occurrences = namesInRights(app);
      const names = occurrences.map(({ name }) => name);
      const found = await lookUpNames(strapi, names);
      const { roles } = found;
      for (const { name, file, line, isRole } of occurrences.filter((one) => isUnknown(one, found))) {
        report({
          severity: 'error',
          position: { file, ...(line === null ? {} : { line }) },
          message: `No ${isRole ? 'role' : 'user and no role'} is called "${name}"${didYouMean(name, roles)}`,
          cure: `Make the role in the admin panel under Settings, Users & Permissions; there are: ${roles.join(', ')}.`,
        });
      }
    }
  });
}

/** A theme to check. */
interface Target {
  place: ThemePlace;
  site: Site;
  /** Ids of its own apps that are checked. */
  apps: string[];
  /** Whether its own files are checked too. */
  whole: boolean;
}

/** All that a theme has: each app is checked in the theme that holds it, not where a link leads to it. */
async function wholeTheme({ sites }: LintServices, place: ThemePlace): Promise<Target> {
  const site = (await sites.site(place.id)) as Site;
  const own = await Promise.all(
    (await sites.apps(site)).map(async (id) => ((await sites.app(site, id))?.themeId === place.id ? [id] : [])),
  );
  return { place, site, apps: own.flat(), whole: true };
}

/**
 * What an argument of the command names: a theme, an app in any theme, `<theme>/<app>`, or everything without one.
 * Throws CannotRun for a name that no theme and no app has.
 */
export async function targetsOf(
  services: LintServices,
  places: readonly ThemePlace[],
  wanted: string | undefined,
): Promise<Target[]> {
  const themes = await Promise.all(places.map((place) => wholeTheme(services, place)));
  if (wanted === undefined) return themes;
  const [theme, app, ...rest] = wanted.split('/');
  const named = themes.filter(({ place }) => place.id === theme && app === undefined);
  if (named.length > 0) return named;
  const holders = themes.filter(({ place, apps }) =>
    app === undefined ? apps.includes(wanted) : place.id === theme && apps.includes(app),
  );
  if (holders.length > 0 && rest.length === 0)
    return holders.map((holder) => ({ ...holder, apps: [app ?? wanted], whole: false }));
  const known = themes.flatMap(({ place, apps }) => [place.id, ...apps, ...apps.map((id) => `${place.id}/${id}`)]);
  throw new CannotRun(`There is no theme and no app "${wanted}"${didYouMean(wanted, known)}`);
}
