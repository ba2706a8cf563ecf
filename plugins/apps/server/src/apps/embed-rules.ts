import type { LogEntry } from '../logic/types';
import type { ThemeFile } from '../sites';
import { patternWork } from './elements/pattern-machine';
import { type EmbeddingPage, isRefusal } from './embed';
import { consoleHtml, warnOnce } from './notices';
import { readRules, type ThemeRule } from './rules';
import type { Visit } from './run';

/** The page with the theme's rules applied; one that is over a bound is shown without them. */
export async function ruled(page: EmbeddingPage, rules: ThemeFile, whole: string): Promise<string> {
  try {
    return await withRules(page, rules, whole);
  } catch (error) {
    page.report('The theme rules', error);
    return whole;
  }
}

/** Reports a mistake in the theme that fails nothing, as `notice` does for blocks. */
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

const told = new WeakSet<ThemeFile>();

/** Applies the rules in order; one that is broken, or whose block fails, changes nothing (contract, section 11). */
async function withRules(page: EmbeddingPage, file: ThemeFile, whole: string): Promise<string> {
  const { rules, errors } = readRules(file);
  if (!told.has(file)) for (const error of errors) page.report('A theme rule', error);
  told.add(file);
  if (page.explains) for (const { message } of errors) page.notes.push(noteOf(page, message));
  const paths = pathsOf(page.visit);
  const work = patternWork();
  const meant = rules.filter(({ matchesPath }) => !matchesPath || paths.some((path) => matchesPath(path, work)));
  const targets = meant.map(({ ifContent, place, target }) => ({ ifContent, place, target }));
  const pieces: (string | undefined)[] = meant.map(() => undefined);
  // Most rules match the unchanged page: the first round finds them, and their blocks are rendered in parallel.
  for (let html = whole, next = 0; ; ) {
    const done = await page.markup.applyRules({ html, rules: targets, next, pieces });
    if (done.wanted.length === 0) {
      noteUnused(
        page,
        file,
        meant.filter((rule, index) => pieces[index] === undefined && rule.ifContent === null),
      );
      return done.html;
    }
    ({ html, next } = done);
    await Promise.all(
      done.wanted.map(async (index) => {
        const { piece, failed } = await pieceOrNothing(page, file, meant[index] as ThemeRule);
        pieces[index] = piece;
        const target = targets[index];
        // A failing rule removes nothing from the page: its explanation goes before the element to be replaced.
        if (failed && target?.place === 'replace') target.place = 'before';
      }),
    );
  }
}

const placeOf = ({ file, line }: ThemeRule['position']): string => `${file}:${line}`;

/** Logs rules that are meant for the page and whose selectors match nothing in it. */
function noteUnused(page: EmbeddingPage, file: ThemeFile, rules: readonly ThemeRule[]): void {
  for (const { position, target } of rules) {
    const place = placeOf(position);
    const message = `the rule at ${place} matches nothing in ${page.visit.request.path}: no element is "${target}"`;
    themeNotice(page, `${place} ${file.text}`, message);
  }
}

/** The HTML that a rule puts into the page; if the rule fails, it is logged and explained to requesters who see details. */
async function pieceOrNothing(page: EmbeddingPage, file: ThemeFile, rule: ThemeRule): Promise<Piece> {
  try {
    return { piece: await pieceOf(page, file, rule), failed: false };
  } catch (error) {
    if (isRefusal(error)) return { piece: '', failed: true };
    page.report(`The rule at ${placeOf(rule.position)}`, error);
    return { piece: await page.explanation(rule.include, error), failed: true };
  }
}

/** What a rule puts into a page, or the explanation of why it cannot. */
interface Piece {
  piece: string;
  failed: boolean;
}

async function pieceOf(
  page: EmbeddingPage,
  file: ThemeFile,
  { include, select, position }: ThemeRule,
): Promise<string> {
  const { html: form, console } = await page.include(include);
  // The selector decides about anything but a form, such as the mark of a paused block.
  if (select === 'form' && form.startsWith('<form')) return form;
  const selected = await page.markup.selected(form, select);
  if (selected === '' && form !== '') {
    const place = placeOf(position);
    const message = `the rule at ${place} selects nothing in the block ${include.app}/blocks/${include.block}: no element is "${select}"`;
    themeNotice(page, `${place} select ${file.text}`, message);
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
