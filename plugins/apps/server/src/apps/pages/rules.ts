import { positionText } from '../../../../shared/positions';
import { memoized } from '../../common/collections';
import { type AppsError, attempt, definitionError, errorText, missing, type SourcePosition } from '../../common/errors';
import { didYouMean } from '../../common/text';
import type { Awaitable } from '../../common/time/awaitable';
import { type RuleAction, ruleActions, selectorProblem } from '../../layouts';
import type { Layouts } from '../../layouts/types';
import type { LogEntry } from '../../logic/types';
import { trimSlashes } from '../../sites';
import type { Site, Sites, ThemeFile, ThemeFolder } from '../../sites/types';
import { readThemeInfo, themeSource } from '../definitions/app';
import { readCatalogue } from '../locales';
import { compilePattern, type PatternTest, patternWork } from '../patterns';
import { consoleHtml, warnOnce } from '../run/diagnostics/failures';
import type { Visit } from '../run/types';
import type { App } from '../types';
import { readYaml, type YamlNode } from '../yaml';
import { type Check, check, describe, isMapping, mapping, text } from '../yaml-schema';
import { type BlockReference, blockReference, type EmbeddingPage, isRefusal } from './embed';

/**
 * A checked theme rule (docs/reference/embedding.md#theme-rules): inserts a block into each page of the site that meets
 * its conditions.
 */
interface ThemeRule {
  action: RuleAction;
  /** CSS selector of the elements of the page that the action applies to. */
  target: string;
  include: BlockReference;
  /** CSS selector in the included page. */
  select: string;
  /** Whether the rule applies to a page, by its path below the site; null: to all. */
  matchesPath: PatternTest | null;
  /** CSS selector that the page must match; null: no condition. */
  ifContent: string | null;
  position: SourcePosition;
}

interface ThemeRules {
  rules: ThemeRule[];
  /** DefinitionErrors of rules.yaml; a broken rule is left out, the others are applied. */
  errors: AppsError[];
}

const selector = check(text.schema, (given, at) => {
  const problem = selectorProblem(given);
  return problem === null ? given : at.fail(`This is not a CSS selector: ${problem}`);
});

const include = check(
  text.schema,
  (value, at): BlockReference =>
    blockReference(value) ??
    at.fail(`This must be a block's address, such as /@@apps/rating/blocks/rate, not ${describe(value)}`),
);

/** Maximum wildcards of one pattern. */
export const MAX_WILDCARDS = 8;

/** `*` matches any text without a slash, `**` any text, `?` one character but a slash; a slash at the end is optional. */
const glob = check(text.schema, (pattern, at): PatternTest => {
  const parts = pattern.length > 400 ? [] : `/${trimSlashes(pattern)}`.split(/(\*+|\?)/);
  if (pattern.length > 400 || parts.length > 2 * MAX_WILDCARDS + 1) {
    return at.fail(`A pattern has at most 400 characters and ${MAX_WILDCARDS} wildcards`);
  }
  const source = parts.map((part) => wildcards[part.slice(0, 2)] ?? part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // Not a RegExp: it would backtrack over the wildcards on a visitor's long path.
  return compilePattern(`${source.join('')}/?`);
});

const wildcards: Record<string, string> = { '*': '[^/]*', '**': '.*', '?': '[^/]' };

const actions = Object.fromEntries(ruleActions.map((action) => [action, selector])) as Record<
  RuleAction,
  Check<string>
>;

/** Keys of a rule. */
const ruleKeys = mapping({ ...actions, include, select: selector, if_path: glob, if_content: selector });

const rule = check(ruleKeys.schema, (value, at): ThemeRule => {
  const given = ruleKeys.read(value, at);
  const [action, ...more] = ruleActions.filter((name) => given[name] !== undefined);
  const target = action && given[action];
  if (!action || target === undefined || more.length > 0)
    return at.fail(`A rule needs exactly one of ${ruleActions.join(', ')}`);
  if (!given.include) return at.fail('A rule needs an "include"');
  return {
    action,
    target,
    include: given.include,
    select: given.select ?? 'form',
    matchesPath: given.if_path ?? null,
    ifContent: given.if_content ?? null,
    position: at.position,
  };
});

/** Maximum characters of all selectors of a theme. */
export const MAX_SELECTORS = 20_000;

/** Refuses the rule that exceeds the limit of all selectors, and those after it, before their selectors are compiled. */
function selectorLimit(): (at: YamlNode) => void {
  let length = 0;
  return (at) => {
    const { value } = at;
    for (const key of isMapping(value) ? [...ruleActions, 'select', 'if_content'] : []) {
      const given = isMapping(value) ? value[key] : undefined;
      if (typeof given === 'string') length += given.length;
    }
    if (length > MAX_SELECTORS) at.fail(`The selectors of a theme have at most ${MAX_SELECTORS} characters together`);
  };
}

/** Maximum rules of a theme: every page is searched for each. Further ones are ignored. */
export const MAX_RULES = 200;

/** Reads a theme's rules.yaml, once for each file object. */
export const readRules = memoized((file: ThemeFile): ThemeRules => {
  const found: ThemeRules = { rules: [], errors: [] };
  const checked = <T>(work: () => T): T | null => {
    const { value, error } = attempt(work);
    if (error) found.errors.push(error);
    return value;
  };
  const entries = checked(() => entriesOf(readYaml(file))) ?? [];
  checked(() => entries[MAX_RULES]?.fail(`A theme has at most ${MAX_RULES} rules`));
  const limit = selectorLimit();
  for (const at of entries.slice(0, MAX_RULES)) {
    const read = checked(() => {
      limit(at);
      return rule(at);
    });
    if (read) found.rules.push(read);
  }
  return found;
});

/** The whole file, for editors. The server reads rules one by one, because a broken one must not break the others. */
export const rulesFile = rule.schema.array().max(MAX_RULES);

function entriesOf(root: YamlNode): YamlNode[] {
  if (root.value === null) return [];
  if (!Array.isArray(root.value)) return root.fail(`The file must be a list of rules, not ${describe(root.value)}`);
  return root.value.map((_, index) => root.child(index));
}

/** The page with the theme's rules applied; without them if a limit is exceeded. */
export async function ruled(page: EmbeddingPage, rules: ThemeFile, whole: string): Promise<string> {
  try {
    return await withRules(page, rules, whole);
  } catch (error) {
    page.report('The theme rules', error);
    return whole;
  }
}

/** Reports a mistake in the theme that is no failure, as `notice` does for blocks. */
export function themeNotice({ visit, services, explains, notes }: EmbeddingPage, about: string, message: string): void {
  const { site } = visit;
  warnOnce(services.logger, `${site.id}/${site.theme}`, `The theme "${site.theme}": ${message}`, about);
  if (explains) notes.push(noteOf({ visit }, message));
}

const noteOf = ({ visit }: Pick<EmbeddingPage, 'visit'>, message: string): LogEntry => ({
  app: visit.site.theme,
  block: null,
  line: null,
  message,
});

const reported = new WeakSet<ThemeFile>();

/**
 * Applies the rules in order (docs/reference/embedding.md#theme-rules). A rule that is broken, or whose block fails,
 * changes nothing.
 */
async function withRules(page: EmbeddingPage, file: ThemeFile, whole: string): Promise<string> {
  const { rules, errors } = readRules(file);
  if (!reported.has(file)) for (const error of errors) page.report('A theme rule', error);
  reported.add(file);
  if (page.explains) for (const error of errors) page.notes.push(noteOf(page, errorText(error)));
  const paths = pathsOf(page.visit);
  const work = patternWork();
  const applicable = rules.filter(({ matchesPath }) => !matchesPath || paths.some((path) => matchesPath(path, work)));
  const targets = applicable.map(({ ifContent, action, target }) => ({ ifContent, action, target }));
  const pieces: (string | undefined)[] = applicable.map(() => undefined);
  // Most rules match the unchanged page: the first round finds them, and their blocks are rendered in parallel.
  for (let html = whole, next = 0; ; ) {
    const done = await page.markup.applyRules({ html, rules: targets, next, pieces });
    if (done.wanted.length === 0) {
      noteUnused(
        page,
        file,
        applicable.filter((rule, index) => pieces[index] === undefined && rule.ifContent === null),
      );
      return done.html;
    }
    ({ html, next } = done);
    await Promise.all(
      done.wanted.map(async (index) => {
        const rule = applicable[index];
        if (!rule) return;
        const { piece, failed } = await pieceOrNothing(page, file, rule);
        pieces[index] = piece;
        const target = targets[index];
        // A failing rule removes nothing from the page: its explanation is inserted before the element to replace.
        if (failed && target?.action === 'replace') target.action = 'before';
      }),
    );
  }
}

const locationOf = ({ file, line }: ThemeRule['position']): string => positionText({ file, line });

/** Reports rules that apply to the page and whose selectors match nothing in it. */
function noteUnused(page: EmbeddingPage, file: ThemeFile, rules: readonly ThemeRule[]): void {
  for (const { position, target } of rules) {
    const location = locationOf(position);
    const message = `the rule at ${location} matches nothing in ${page.visit.request.path}: no element is "${target}"`;
    themeNotice(page, `${location} ${file.text}`, message);
  }
}

/** The HTML that a rule inserts. A failure is logged, and explained to requesters who see details. */
async function pieceOrNothing(page: EmbeddingPage, file: ThemeFile, rule: ThemeRule): Promise<Piece> {
  try {
    return { piece: await pieceOf(page, file, rule), failed: false };
  } catch (error) {
    if (isRefusal(error)) return { piece: '', failed: true };
    page.report(`The rule at ${locationOf(rule.position)}`, error);
    return { piece: await page.explanation(rule.include, error), failed: true };
  }
}

/** The HTML that a rule inserts, or the explanation of its failure. */
interface Piece {
  piece: string;
  failed: boolean;
}

async function pieceOf(
  page: EmbeddingPage,
  file: ThemeFile,
  { include, select, position }: ThemeRule,
): Promise<string> {
  const { html, isForm, console } = await page.include(include);
  // `form` selects a whole form; other HTML, such as the mark of a paused block, is searched for the selector.
  if (select === 'form' && isForm) return html;
  const selected = await page.markup.selected(html, select);
  if (selected === '' && html !== '') {
    const location = locationOf(position);
    const message = `the rule at ${location} selects nothing in the block ${include.app}/blocks/${include.block}: no element is "${select}"`;
    themeNotice(page, `${location} select ${file.text}`, message);
  }
  // Without the form, nothing else carries the block's log entries.
  return selected.includes('data-apps-settings') ? selected : selected + consoleHtml(console);
}

/** The page's path below the site (`/articles/news`), and the whole path: authors may write either. */
function pathsOf({ site, request }: Visit): string[] {
  const path = decoded(request.path);
  const below = path.replace(new RegExp(`^/${site.id.replaceAll('.', '\\.')}(?=/|$)`), '');
  return [below === '' ? '/' : below, path];
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** What reads a theme and its apps. */
export interface ThemeServices {
  sites: Pick<Sites, 'apps'>;
  layouts: Layouts;
  loadApp(site: Site, appId: string): Awaitable<App | null>;
}

/** The errors of a theme's own files: theme.yaml, layouts, and rules, those that include no block too. */
export async function themeErrors(services: ThemeServices, site: Site, theme: ThemeFolder): Promise<AppsError[]> {
  const errors: AppsError[] = [];
  for (const file of theme.files.values()) {
    if (file.problem) errors.push(definitionError(file.problem, { file: file.path }));
    else if (file.path === 'rules.yaml') errors.push(...(await ruleErrors(services, site, file)));
    else {
      const { error } = attempt(() => checkFile(services, theme, file));
      if (error) errors.push(error);
    }
  }
  return errors;
}

/** Throws the DefinitionError of a broken file. */
function checkFile({ layouts }: ThemeServices, theme: ThemeFolder, file: ThemeFile): void {
  if (file.path === 'theme.yaml') readThemeInfo(file);
  else if (file.path.startsWith('locales/')) readCatalogue(file);
  else layouts.compile(themeSource(file, theme.files));
}

/** The errors in rules.yaml, and includes of missing blocks. */
async function ruleErrors(services: ThemeServices, site: Site, file: ThemeFile): Promise<AppsError[]> {
  const { rules, errors } = readRules(file);
  const absent: AppsError[] = [];
  for (const { include, position } of rules) {
    const message = await missingBlock(services, site, include);
    if (message !== null) absent.push(definitionError(message, position));
  }
  return [...errors, ...absent];
}

/** Why a reference names no block, with the name that was probably meant; null for a block that exists. */
export async function missingBlock(
  { sites, loadApp }: ThemeServices,
  site: Site,
  reference: { app: string; block: string },
): Promise<string | null> {
  const app = await loadApp(site, reference.app);
  if (!app) return `${missing.app(reference.app)}${didYouMean(reference.app, await sites.apps(site))}`;
  if (app.blocks.has(reference.block)) return null;
  return `${missing.block(reference.block, app.id)}${didYouMean(reference.block, [...app.blocks.keys()])}`;
}
