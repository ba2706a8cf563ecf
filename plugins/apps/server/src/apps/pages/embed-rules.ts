import { positionText } from '../../../../shared/positions';
import { errorText } from '../../common/errors';
import type { LogEntry } from '../../logic/types';
import type { ThemeFile } from '../../sites';
import { patternWork } from '../patterns/pattern-machine';
import { consoleHtml, warnOnce } from '../run/diagnostics/notices';
import type { Visit } from '../run/types';
import { type EmbeddingPage, isRefusal } from './embed';
import { readRules, type ThemeRule } from './rules';

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
