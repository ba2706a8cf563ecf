import { definitionError } from '../../common/errors';
import { paced } from '../../common/time/pace';
import { WorkerFailure } from '../../workers';
import { markupLimits, TimeUp, TooLargeInline, tooLarge, tooMuchWork, Work } from './bounded-parser';
import { balanced, pieceTree } from './kept-trees';
import { PageTree, type RuleAction, type Splice } from './page-tree';
import { type Element, holdsContent, isElement, matching } from './selectors';

/** Offsets of an element in the text of the page. */
interface Offsets {
  start: number;
  end: number;
  /** Of its content; null for a void element. */
  inside: { start: number; end: number } | null;
}

/** The text that each action replaces; null where the element cannot have content. */
const rangeOf: Record<RuleAction, (at: Offsets) => Pick<Splice, 'from' | 'to'> | null> = {
  before: ({ start }) => ({ from: start, to: start }),
  after: ({ end }) => ({ from: end, to: end }),
  replace: ({ start, end }) => ({ from: start, to: end }),
  prepend: ({ inside }) => inside && { from: inside.start, to: inside.start },
  append: ({ inside }) => inside && { from: inside.end, to: inside.end },
};

/** Default milliseconds for parsing and searching a page for all rules of a theme. */
const SEARCH_TIME = 400;

/**
 * A rendered page that theme rules are applied to. It is parsed and searched like a browser does, but changed as text:
 * outside of the splices it stays the same byte for byte.
 */
export class ThemePage {
  #tree: PageTree | undefined;
  /** The change of the text that the tree does not have yet: nothing is searched after the last one. */
  #change: { splices: readonly Splice[]; html: string } | undefined;
  /** Matches by selector, until the page changes: rules share selectors, and each is searched for twice. */
  readonly #matches = new Map<string, Element[]>();

  /** @param work counts all work from now on; at its limit all methods throw */
  constructor(
    private text: string,
    private readonly work = Work.timed(SEARCH_TIME),
  ) {}

  get html(): string {
    return this.text;
  }

  /** Whether an element of the page matches. DefinitionError for an invalid CSS selector, or one that takes too long. */
  has(selector: string): boolean {
    return this.matches(selector).length > 0;
  }

  /**
   * The splices of `put`, one for each matching element. None for an element that has no start tag in the text, that
   * cannot have content, or whose splice is inside a form, because forms do not nest; one for elements that have a start tag in common:
   * a formatting element that is not closed is repeated in the blocks after it.
   */
  splices(action: RuleAction, selector: string): Splice[] {
    const elements = this.matches(selector).filter((element) => !isInForm(element, action));
    const tags = new Set<number>();
    return elements.flatMap((element) => {
      const at = offsetsOf(element);
      if (!at || tags.has(at.start)) return [];
      tags.add(at.start);
      const range = rangeOf[action](at);
      return range ? [{ ...range, action, element }] : [];
    });
  }

  /** Applies splices of the current page with HTML. DefinitionError when the page becomes too large. */
  put(splices: readonly Splice[], html: string): void {
    if (this.text.length + splices.length * html.length > markupLimits.characters) {
      throw tooLarge(`${markupLimits.characters} characters: the rules put too much into the page`);
    }
    const pieces: string[] = [];
    let from = 0;
    const inOrder = [...splices].sort((a, b) => a.from - b.from);
    for (const splice of inOrder) {
      pieces.push(this.text.slice(from, splice.from), html);
      from = splice.to;
    }
    const text = [...pieces, this.text.slice(from)].join('');
    this.#change = { splices: inOrder, html };
    this.text = text;
    this.#matches.clear();
  }

  private matches(selector: string): Element[] {
    const known = this.#matches.get(selector);
    if (known) return known;
    if (this.work.isTimeUp) {
      throw definitionError(`The theme's rules take longer than ${this.work.time} ms for this page`);
    }
    this.work.checkLength(this.text.length);
    const found = matching(this.tree().root, selector, this.work);
    this.#matches.set(selector, found);
    return found;
  }

  private tree(): PageTree {
    const change = this.#change;
    this.#change = undefined;
    if (change && !this.#tree?.put(change.splices, change.html, this.text, this.work)) this.#tree = undefined;
    this.#tree ??= new PageTree(this.text, this.work);
    return this.#tree;
  }
}

function offsetsOf(element: Element): Offsets | null {
  const location = element.sourceCodeLocation;
  if (!location?.startTag) return null;
  const { startOffset: start, endOffset: end, startTag, endTag } = location;
  const inside = holdsContent(element) ? { start: startTag.endOffset, end: endTag?.startOffset ?? end } : null;
  return { start, end, inside };
}

function isInForm(element: Element, action: RuleAction): boolean {
  const inside = action === 'prepend' || action === 'append';
  const start = inside ? element : element.parentNode;
  for (let node = start; node && isElement(node); node = node.parentNode) if (node.tagName === 'form') return true;
  return false;
}

/** The elements of a block's page that match a selector, as balanced HTML; '' if there are none. */
export function selected(html: string, selector: string, work = Work.timed()): string {
  const whole = balanced(html, work);
  return matching(pieceTree(whole, work).root, selector, work)
    .map(({ sourceCodeLocation: at }) => (at ? whole.slice(at.startOffset, at.endOffset) : ''))
    .join('\n');
}

/** A theme rule for one page; selectors are CSS. */
export interface PageRule {
  action: RuleAction;
  target: string;
  /** The rule applies only to pages in which this matches; null: to all. */
  ifContent: string | null;
}

interface RulesInput {
  html: string;
  /** Applied in order, from the index `next` on. */
  rules: readonly PageRule[];
  next: number;
  /** The HTML that each rule inserts; undefined: not known yet. */
  pieces: readonly (string | undefined)[];
}

interface RulesOutput {
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

type MarkupTask = keyof typeof markupWork;
type MarkupInput<T extends MarkupTask> = Parameters<(typeof markupWork)[T]>[0];
type MarkupOutput<T extends MarkupTask> = ReturnType<(typeof markupWork)[T]>;

interface MarkupRequest<T extends MarkupTask = MarkupTask> {
  task: T;
  input: MarkupInput<T>;
  /** Milliseconds. */
  time: number;
}

/** The output of a task, and its milliseconds. */
interface MarkupAnswer {
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
