import { AppsError } from '../errors';
import { balanced } from './html-tree';
import { TimeUp, Work } from './markup-work';
import { type RulePlace, selected, ThemePage } from './theme-page';

/** A theme rule as the page is searched for it; selectors are CSS. */
export interface PageRule {
  place: RulePlace;
  target: string;
  /** The rule is only meant for pages in which this matches; null: for all. */
  ifContent: string | null;
}

export interface RulesInput {
  html: string;
  /** Applied in order, from the index `next` on. */
  rules: readonly PageRule[];
  next: number;
  /** What each rule puts into the page; undefined: not known yet. */
  pieces: readonly (string | undefined)[];
}

export interface RulesOutput {
  html: string;
  /** Index of the first rule that is not applied yet, because its piece is not known; the number of rules at the end. */
  next: number;
  /** Indices of rules whose pieces are needed to go on: `next`, and others that now match too. */
  wanted: number[];
}

/** Applies rules to a page until one matches whose piece is not known. */
export function applyRules(page: ThemePage, { rules, next, pieces }: Omit<RulesInput, 'html'>): RulesOutput {
  const placesOf = ({ ifContent, place, target }: PageRule) =>
    ifContent === null || page.has(ifContent) ? page.places(place, target) : [];
  const isWanted = (rule: PageRule, index: number) =>
    index >= next && pieces[index] === undefined && placesOf(rule).length > 0;
  for (; next < rules.length; next += 1) {
    const places = placesOf(rules[next] as PageRule);
    const piece = pieces[next];
    if (places.length === 0 || piece === '') continue;
    if (piece === undefined) {
      const wanted = rules.flatMap((rule, index) => (isWanted(rule, index) ? index : []));
      return { html: page.html, next, wanted };
    }
    page.put(places, piece);
  }
  return { html: page.html, next, wanted: [] };
}

/** All work on HTML that logic, editors or visitors wrote, by name: what goes in and out can be copied between processes. */
export const markupWork = {
  balance: ({ html }: { html: string }, work: Work): string => balanced(html, work),
  select: ({ html, selector }: { html: string; selector: string }, work: Work): string =>
    selected(html, selector, work),
  rules: (input: RulesInput, work: Work): RulesOutput => applyRules(new ThemePage(input.html, work), input),
};

export type MarkupTask = keyof typeof markupWork;
export type MarkupInput<T extends MarkupTask> = Parameters<(typeof markupWork)[T]>[0];
export type MarkupOutput<T extends MarkupTask> = ReturnType<(typeof markupWork)[T]>;

export interface MarkupRequest<T extends MarkupTask = MarkupTask> {
  task: T;
  input: MarkupInput<T>;
  /** Milliseconds. */
  time: number;
}

/** The outcome of a task, and the milliseconds that it took. */
export interface MarkupAnswer {
  value: MarkupOutput<MarkupTask>;
  time: number;
}

/** What a worker process does: one task of the table. DefinitionError over its time or another bound. */
export function doMarkup({ task, input, time }: MarkupRequest): MarkupAnswer {
  const perform = markupWork[task] as (input: unknown, work: Work) => MarkupOutput<MarkupTask>;
  const begin = performance.now();
  try {
    const value = perform(input, Work.timed(time));
    return { value, time: performance.now() - begin };
  } catch (error) {
    if (error instanceof TimeUp) throw new AppsError('DefinitionError', `The HTML is too much work: ${error.message}`);
    throw error;
  }
}
