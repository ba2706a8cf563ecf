import { AppsError } from '../errors';
import { WorkerFailure } from '../workers';
import { balanced } from './html-tree';
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
import { markupLimits, TooLargeInline, tooLarge, Work } from './markup-work';
import { paced } from './pace';
import { selected, ThemePage } from './theme-page';

/**
 * Work on the HTML of one page of the site: small HTML is done at once, on the main thread and within its bound, other
 * HTML in a worker process. All reject with a DefinitionError for HTML over a limit (docs/limits.md).
 */
export interface Markup {
  /** The same HTML, balanced: nothing of it ends or swallows what stands around it in a page. */
  balanced(html: string): Promise<string>;
  /** The elements of a block's page that a CSS selector names, as balanced HTML; '' if there are none. */
  selected(html: string, selector: string): Promise<string>;
  /** Applies theme rules to a page, until one needs a piece that is not known. */
  applyRules(input: RulesInput): Promise<RulesOutput>;
}

/** Gives a task to a worker process: a part of Workers. */
export interface MarkupWorkers {
  run(task: 'markup', input: MarkupRequest, options: { time: number }): Promise<unknown>;
}

/** Milliseconds of worker processes for all HTML of one page. */
const pageTime = 6_000;

/** Milliseconds by which a task may be longer at work than its time of the processor, until its process is ended. */
const grace = 2_000;

/** Begins a page. */
export function createMarkup(workers: MarkupWorkers): Markup {
  let left = pageTime;

  async function inWorker<T extends MarkupTask>(task: T, input: MarkupInput<T>): Promise<MarkupOutput<T>> {
    if (left <= 0) throw new AppsError('DefinitionError', `The HTML of this page takes longer than ${pageTime} ms`);
    const time = Math.min(markupLimits.time, left);
    let spent = time;
    try {
      const request: MarkupRequest = { task, input, time };
      const answer = (await workers.run('markup', request, { time: time + grace })) as MarkupAnswer;
      spent = answer.time;
      return answer.value as MarkupOutput<T>;
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error;
      const what = error.reason === 'time' ? `it takes longer than ${time} ms` : 'it takes too much memory';
      throw new AppsError('DefinitionError', `The HTML is too much work: ${what}`);
    } finally {
      left -= spent;
    }
  }

  /** @param inline the same on the main thread */
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

  // All rounds of the rules share what was found in the page before, and one bound on the main thread.
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

/** Does everything in this process: for tests. */
export const workersHere: MarkupWorkers = { run: async (_, request) => doMarkup(request) };
