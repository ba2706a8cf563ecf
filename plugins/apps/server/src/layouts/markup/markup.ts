import { definitionError } from '../../common/errors';
import { paced } from '../../common/time/pace';
import { WorkerFailure } from '../../workers';
import { balanced } from './kept-trees';
import {
  applyRules,
  doMarkup,
  type MarkupAnswer,
  type MarkupInput,
  type MarkupOutput,
  type MarkupRequest,
  type MarkupTask,
  type RulesInput,
  type RulesOutput,
} from './markup-tasks';
import { markupLimits, TooLargeInline, tooLarge, tooMuchWork, Work } from './markup-work';
import { selected, ThemePage } from './theme-page';

/**
 * Work on the HTML of one page of the site: small HTML is processed on the main thread, within its limits, other HTML in
 * a worker process. All methods reject with a DefinitionError for HTML above a limit (docs/limits.md).
 */
export interface Markup {
  /** The HTML balanced: it neither closes elements around it in a page nor leaves its own open. */
  balanced(html: string): Promise<string>;
  /** The elements of a block's page that match a CSS selector, as balanced HTML; '' if there are none. */
  selected(html: string, selector: string): Promise<string>;
  /** Applies theme rules to a page, until one needs a piece that is not known. */
  applyRules(input: RulesInput): Promise<RulesOutput>;
}

/** The part of Workers that runs markup tasks. */
export interface MarkupWorkers {
  run(task: 'markup', input: MarkupRequest, options: { time: number }): Promise<unknown>;
}

/** Milliseconds of worker processes for all HTML of one page. */
export const MAX_PAGE_TIME = 6_000;

/** Milliseconds by which a task may exceed its CPU time in wall-clock time, until its process is ended. */
const GRACE_TIME = 2_000;

/** Begins a page. */
export function createMarkup(workers: MarkupWorkers): Markup {
  let left = MAX_PAGE_TIME;

  async function inWorker<T extends MarkupTask>(task: T, input: MarkupInput<T>): Promise<MarkupOutput<T>> {
    if (left <= 0) throw definitionError(`The HTML of this page takes longer than ${MAX_PAGE_TIME} ms`);
    const time = Math.min(markupLimits.time, left);
    let spent = time;
    try {
      const request: MarkupRequest = { task, input, time };
      const answer = (await workers.run('markup', request, { time: time + GRACE_TIME })) as MarkupAnswer;
      spent = answer.time;
      return answer.value as MarkupOutput<T>;
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error;
      const what = error.reason === 'time' ? `it takes longer than ${time} ms` : 'it takes too much memory';
      throw tooMuchWork(what);
    } finally {
      left -= spent;
    }
  }

  /** @param inline the task on the main thread */
  async function perform<T extends MarkupTask>(
    task: T,
    input: MarkupInput<T>,
    inline: () => MarkupOutput<T>,
  ): Promise<MarkupOutput<T>> {
    const { characters } = markupLimits;
    if (input.html.length > characters) throw tooLarge(`${characters} characters`);
    try {
      return await paced(inline);
    } catch (error) {
      if (!(error instanceof TooLargeInline)) throw error;
    }
    return inWorker(task, input);
  }

  // All rounds of the rules share the parsed page, and one budget on the main thread.
  const rulesWork = Work.inline();
  let page: ThemePage | undefined;
  const rulesInline = (input: RulesInput) => {
    if (page?.html !== input.html) page = new ThemePage(input.html, rulesWork);
    return applyRules(page, input);
  };

  return {
    balanced: (html) => perform('balance', { html }, () => balanced(html, Work.inline())),
    selected: (html, selector) => perform('select', { html, selector }, () => selected(html, selector, Work.inline())),
    applyRules: (input) => perform('rules', input, () => rulesInline(input)),
  };
}

/** Runs all tasks in this process, for tests. */
export const workersHere: MarkupWorkers = { run: async (_, request) => doMarkup(request) };
