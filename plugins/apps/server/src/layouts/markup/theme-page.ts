import { definitionError } from '../../common/errors';
import { balanced, type Element, holdsContent, isElement, parseDocument, parsePiece } from './html-tree';
import { markupLimits, tooLarge, Work } from './markup-work';
import { matching } from './selectors';

/** What a theme rule does with a block at a matching element (docs/reference/embedding.md#theme-rules). */
export const ruleActions = ['before', 'after', 'replace', 'prepend', 'append'] as const;
export type RuleAction = (typeof ruleActions)[number];

/** Offsets of the text that is replaced; equal for an insertion. */
interface Splice {
  from: number;
  to: number;
}

/** Offsets of an element in the text of the page. */
interface Offsets {
  start: number;
  end: number;
  /** Of its content; null for a void element. */
  inside: { start: number; end: number } | null;
}

/** The splice of each action; null where the element cannot have content. */
const spliceOf: Record<RuleAction, (at: Offsets) => Splice | null> = {
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
  #tree: ReturnType<typeof parseDocument> | undefined;
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
   * cannot have content, or whose splice is inside a form, because forms do not nest.
   */
  splices(action: RuleAction, selector: string): Splice[] {
    const elements = this.matches(selector).filter((element) => !isInForm(element, action));
    return elements.flatMap((element) => {
      const at = offsetsOf(element);
      const splice = at && spliceOf[action](at);
      return splice ? [splice] : [];
    });
  }

  /** Applies splices of the current page with HTML. DefinitionError when the page becomes too large. */
  put(splices: readonly Splice[], html: string): void {
    if (this.text.length + splices.length * html.length > markupLimits.characters) {
      throw tooLarge(`${markupLimits.characters} characters: the rules put too much into the page`);
    }
    const pieces: string[] = [];
    let from = 0;
    for (const splice of [...splices].sort((a, b) => a.from - b.from)) {
      pieces.push(this.text.slice(from, splice.from), html);
      from = splice.to;
    }
    this.text = [...pieces, this.text.slice(from)].join('');
    this.#tree = undefined;
    this.#matches.clear();
  }

  private matches(selector: string): Element[] {
    const known = this.#matches.get(selector);
    if (known) return known;
    if (this.work.isTimeUp) {
      throw definitionError(`The theme's rules take longer than ${this.work.time} ms for this page`);
    }
    this.#tree ??= parseDocument(this.text, this.work);
    const found = matching(this.#tree, selector, this.work);
    this.#matches.set(selector, found);
    return found;
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
  return matching(parsePiece(whole, work).root, selector, work)
    .map(({ sourceCodeLocation: at }) => (at ? whole.slice(at.startOffset, at.endOffset) : ''))
    .join('\n');
}
