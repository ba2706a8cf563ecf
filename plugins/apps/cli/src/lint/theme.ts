import { readdir } from 'node:fs/promises';
import {
  blockReference,
  brokenCatalogues,
  missingBlock,
  type Report,
  readRules,
  refused,
  themeErrors,
} from '../../../server/src/apps';
import { isId } from '../../../server/src/sites';
import type { Site, ThemeFile, ThemeFolder } from '../../../server/src/sites/types';
import type { ThemePlace } from '../themes';
import type { LintServices } from './types';

/** Checks a theme's own files, the links to apps of other themes, and what its pages include. */
export async function checkTheme(services: LintServices, site: Site, report: Report): Promise<void> {
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
export async function checkLinks(
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
