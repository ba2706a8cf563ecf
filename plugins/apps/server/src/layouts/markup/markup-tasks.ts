import { balanced } from './kept-trees';
import { TimeUp, tooMuchWork, Work } from './markup-work';
import type { RuleAction } from './page-tree';
import { selected, ThemePage } from './theme-page';

/** A theme rule for one page; selectors are CSS. */
export interface PageRule {
  action: RuleAction;
  target: string;
  /** The rule applies only to pages in which this matches; null: to all. */
  ifContent: string | null;
}

export interface RulesInput {
  html: string;
  /** Applied in order, from the index `next` on. */
  rules: readonly PageRule[];
  next: number;
  /** The HTML that each rule inserts; undefined: not known yet. */
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
  const splicesOf = ({ ifContent, action, target }: PageRule) =>
    ifContent === null || page.has(ifContent) ? page.splices(action, target) : [];
  const isWanted = (rule: PageRule, index: number) =>
    index >= next && pieces[index] === undefined && splicesOf(rule).length > 0;
  for (let rule = rules[next]; rule; next += 1, rule = rules[next]) {
    const splices = splicesOf(rule);
    const piece = pieces[next];
    if (splices.length === 0 || piece === '') continue;
    if (piece === undefined) {
      const wanted = rules.flatMap((rule, index) => (isWanted(rule, index) ? index : []));
      return { html: page.html, next, wanted };
    }
    page.put(splices, piece);
  }
  return { html: page.html, next, wanted: [] };
}

/** All work on HTML of logic, editors or visitors, by name; inputs and outputs can be copied between processes. */
const markupWork = {
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

/** The output of a task, and its milliseconds. */
export interface MarkupAnswer {
  value: MarkupOutput<MarkupTask>;
  time: number;
}

/** Performs one task in a worker process. DefinitionError above its time or another limit. */
export function doMarkup({ task, input, time }: MarkupRequest): MarkupAnswer {
  const perform = markupWork[task] as (input: unknown, work: Work) => MarkupOutput<MarkupTask>;
  const begin = performance.now();
  try {
    const value = perform(input, Work.timed(time));
    return { value, time: performance.now() - begin };
  } catch (error) {
    if (error instanceof TimeUp) throw tooMuchWork(error.message);
    throw error;
  }
}
