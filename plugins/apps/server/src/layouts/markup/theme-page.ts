import { definitionError } from '../../common/errors';
import { balanced, pieceTree } from './kept-trees';
import { markupLimits, tooLarge, Work } from './markup-work';
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
   * cannot have content, or whose splice is inside a form, because forms do not nest.
   */
  splices(action: RuleAction, selector: string): Splice[] {
    const elements = this.matches(selector).filter((element) => !isInForm(element, action));
    return elements.flatMap((element) => {
      const at = offsetsOf(element);
      const range = at && rangeOf[action](at);
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
