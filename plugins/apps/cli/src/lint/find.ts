import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import {
  type App,
  blockReference,
  brokenCatalogues,
  checkApp,
  isUnknown,
  type LintedApp,
  type LintProblem,
  located,
  missingBlock,
  namesInRights,
  type Report,
  readRules,
  refused,
  sourceOf,
  themeErrors,
} from '../../../server/src/apps';
import { lookUpNames } from '../../../server/src/auth';
import { didYouMean } from '../../../server/src/common/text';
import { isId } from '../../../server/src/sites';
import type { Site, ThemeFile, ThemeFolder } from '../../../server/src/sites/types';
import { CannotRun } from '../command';
import { type Host, withStrapi } from '../host';
import type { ThemePlace } from '../themes';
import { checkTypes, type LintServices } from './types';

/** What is wrong in the files of themes and apps. */
interface Found {
  /** It grows while apps report. */
  problems: LintProblem[];
  /** Remarks about what was not checked. */
  notes: string[];
  /** The apps that were checked, each with what it reports to, and what is put before its files. */
  apps: { app: App; report: Report; prefix: string }[];
}

/**
 * Checks themes and apps with the server's own code.
 * @param cwd the folder to which paths of files are relative
 * @param withTypes whether the types of logic in TypeScript are checked too
 */
export async function findProblems(
  host: Host,
  services: LintServices,
  targets: readonly CheckedTheme[],
  cwd: string,
  withTypes = false,
): Promise<Found> {
  const problems: LintProblem[] = [];
  const notes: string[] = [];
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
    const [leftOut, ...others] = withTypes ? checkTypes(host, place, reports) : [];
    if (leftOut !== undefined) {
      const more = others.length > 0 ? ` and ${others.length} more` : '';
      const config = `${from(place.folder)}tsconfig.json`;
      notes.push(`${config} does not include ${relative(cwd, leftOut)}${more}: their types are not checked.`);
    }
  }
  return { problems, notes, apps };
}

/** How many themes, apps and blocks were checked. */
export const countsOf = (targets: readonly CheckedTheme[], { apps }: Found) => ({
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
interface CheckedTheme {
  place: ThemePlace;
  site: Site;
  /** Ids of its own apps that are checked. */
  apps: string[];
  /** Whether its own files are checked too. */
  whole: boolean;
}

/** All that a theme has: each app is checked in the theme that holds it, not where a link leads to it. */
async function wholeTheme({ sites }: LintServices, place: ThemePlace): Promise<CheckedTheme> {
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
): Promise<CheckedTheme[]> {
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

/** Checks a theme's own files, the links to apps of other themes, and what its pages include. */
async function checkTheme(services: LintServices, site: Site, report: Report): Promise<void> {
  const theme = await services.sites.theme(site);
  if (!theme) return;
  for (const error of await themeErrors(services, site, theme)) report(refused(error, 'theme.yaml'));
  for (const error of await brokenCatalogues(theme.files)) report(refused(error, 'locales'));
  for (const file of theme.files.values()) await checkTags(services, site, file, report);
  await checkSelectors(services, site, theme, report);
}

/** A tag `{% block "…" %}` with a fixed text. */
const TAG = /\{%-?\s*block\s+(?:"([^"\n]*)"|'([^'\n]*)')/g;

/** Blocks that layouts and templates name and that do not exist. */
async function checkTags(services: LintServices, site: Site, { path, text }: ThemeFile, report: Report): Promise<void> {
  if (!path.endsWith('.html')) return;
  for (const match of text.matchAll(TAG)) {
    const named = match[1] ?? match[2] ?? '';
    const reference = blockReference(named);
    const message = reference
      ? await missingBlock(services, site, reference)
      : `"${named}" names no block: write <app>/blocks/<block>`;
    if (message === null) continue;
    const before = text.slice(0, match.index + match[0].length - named.length - 1);
    const column = before.length - before.lastIndexOf('\n');
    report({ severity: 'error', position: { file: path, line: before.split('\n').length, column }, message });
  }
}

/** Rules whose selectors match nothing in the layout, the templates and the blocks of the theme. */
async function checkSelectors(services: LintServices, site: Site, theme: ThemeFolder, report: Report): Promise<void> {
  const file = theme.files.get('rules.yaml');
  const layout = theme.files.get('layout.html');
  // Without a layout the pages are those of the plugin, which the theme's author has not written.
  if (!file || !layout) return;
  const markup = services.markup();
  const html = await wholePage(services, site, theme, layout);
  for (const { action, target, position } of readRules(file).rules) {
    const { next } = await markup.applyRules({
      html,
      rules: [{ action, target, ifContent: null }],
      next: 0,
      pieces: [undefined],
    });
    if (next === 0) continue;
    report({
      severity: 'warning',
      position,
      message: `The selector "${target}" of the rule matches nothing in the theme's layout, templates and blocks`,
      cure: 'Correct it, or leave it if content brings the element.',
    });
  }
}

/** The markup of all pages of a theme in one, without Liquid: what a selector can match. */
async function wholePage({ sites, loadApp }: LintServices, site: Site, { files }: ThemeFolder, layout: ThemeFile) {
  const main = [...files].filter(([path]) => /^(templates|partials)\//.test(path)).map(([, { text }]) => text);
  for (const id of await sites.apps(site)) {
    const app = await loadApp(site, id);
    for (const block of app?.blocks.values() ?? []) main.push(block.layout?.text ?? '');
  }
  const [before = '', after = ''] = layout.text.split(/\{\{-?\s*main\b[^}]*\}\}/);
  return [before, ...main, after].map(withoutLiquid).join('\n');
}

const withoutLiquid = (text: string) => text.replace(/\{\{[^}]*\}\}|\{%[^%]*%\}/g, '');

/** Checks the folder of a theme's apps: names that are no ids, and links (docs/reference/theme.md#where-an-app-is-looked-for). */
async function checkLinks(
  { sites, linkProblem }: LintServices,
  site: Site,
  { apps, id: theme }: ThemePlace,
  report: Report,
): Promise<void> {
  const entries = await readdir(apps, { withFileTypes: true }).catch(() => []);
  const folders = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name));
  for (const name of entries
    .map((entry) => entry.name)
    .filter((name) => !name.startsWith('.'))
    .sort()) {
    const id = name.replace(/\.lnk$/, '');
    if (!isId(id)) {
      const cure = 'An id has letters, digits, "_", "-" and single dots, and begins with a letter, a digit or "_".';
      report({
        severity: 'error',
        position: { file: name },
        message: `"${id}" cannot be the id of an app: it is never found`,
        cure,
      });
    }
    if (!name.endsWith('.lnk') || !isId(id)) continue;
    const position = { file: name, line: 1, column: 1 };
    if (folders.has(id)) {
      report({
        severity: 'warning',
        position,
        message: `The link is ignored: the theme "${theme}" has the app "${id}" itself`,
      });
      continue;
    }
    if (await sites.app(site, id)) continue;
    const message = linkProblem(theme, id) ?? `The link for the app "${id}" leads to no app`;
    report({
      severity: 'error',
      position,
      message,
      cure: 'The file holds one word: the id of the theme that has the app.',
    });
  }
}
