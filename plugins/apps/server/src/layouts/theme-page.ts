import { AppsError } from '../errors';
import { balanced, type Element, holdsContent, isElement, parseDocument, parsePiece } from './html-tree';
import { markupLimits, tooLarge, Work } from './markup-work';
import { matching } from './selectors';

/** Where a theme rule puts something, seen from the element that its selector names (contract, section 11). */
export const rulePlaces = ['before', 'after', 'replace', 'prepend', 'append'] as const;
export type RulePlace = (typeof rulePlaces)[number];

/** Text to take away and to put in its place, by offsets. */
interface Splice {
  from: number;
  to: number;
}

/** Offsets of an element in the text of the page. */
interface Offsets {
  start: number;
  end: number;
  /** Of what is inside it; null for one that can hold nothing. */
  inside: { start: number; end: number } | null;
}

/** What of the page each place takes away; null where it makes no sense. */
const splices: Record<RulePlace, (at: Offsets) => Splice | null> = {
  before: ({ start }) => ({ from: start, to: start }),
  after: ({ end }) => ({ from: end, to: end }),
  replace: ({ start, end }) => ({ from: start, to: end }),
  prepend: ({ inside }) => inside && { from: inside.start, to: inside.start },
  append: ({ inside }) => inside && { from: inside.end, to: inside.end },
};

/** Milliseconds in which a page is parsed and searched for all rules of a theme, where nothing else is said. */
const SEARCH_TIME = 400;

/**
 * A finished page that theme rules are applied to. It is searched as a browser would understand it, and changed in its
 * text: outside the places that rules touch it stays byte for byte what it was.
 */
export class ThemePage {
  #tree: ReturnType<typeof parseDocument> | undefined;
  /** What selectors match, until the page is changed: rules share them, and are asked twice. */
  readonly #matches = new Map<string, Element[]>();

  /** @param work counts what is done, from now on; at its bound everything throws */
  constructor(
    private text: string,
    private readonly work = Work.timed(SEARCH_TIME),
  ) {}

  get html(): string {
    return this.text;
  }

  /** Whether an element of the page matches. DefinitionError for what is not a CSS selector, or takes too long. */
  has(selector: string): boolean {
    return this.matches(selector).length > 0;
  }

  /**
   * Where `put` would put something: as many places as elements match. An element that the page's text does not spell
   * out, or that cannot hold anything, or (as forms do not nest) stands in a form, is no place.
   */
  places(place: RulePlace, selector: string): Splice[] {
    const elements = this.matches(selector).filter((element) => !isInForm(element, place));
    return elements.flatMap((element) => {
      const at = offsetsOf(element);
      const splice = at && splices[place](at);
      return splice ? [splice] : [];
    });
  }

  /** Puts HTML into places that `places` has just given. DefinitionError when the page becomes too large. */
  put(places: readonly Splice[], html: string): void {
    if (this.text.length + places.length * html.length > markupLimits.characters) {
      throw tooLarge(`${markupLimits.characters} characters: the rules put too much into the page`);
    }
    const pieces: string[] = [];
    let from = 0;
    for (const splice of [...places].sort((a, b) => a.from - b.from)) {
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
      throw new AppsError('DefinitionError', `The theme's rules take longer than ${this.work.time} ms for this page`);
    }
    this.#tree ??= parseDocument(this.text, this.work);
    const found = matching(this.#tree, selector, this.work);
    this.#matches.set(selector, found);
    return found;
  }
}

function offsetsOf(element: Element): Offsets | null {
  const place = element.sourceCodeLocation;
  if (!place?.startTag) return null;
  const { startOffset: start, endOffset: end, startTag, endTag } = place;
  const inside = holdsContent(element) ? { start: startTag.endOffset, end: endTag?.startOffset ?? end } : null;
  return { start, end, inside };
}

function isInForm(element: Element, place: RulePlace): boolean {
  const inside = place === 'prepend' || place === 'append';
  const start = inside ? element : element.parentNode;
  for (let node = start; node && isElement(node); node = node.parentNode) if (node.tagName === 'form') return true;
  return false;
}

/** The elements of a block's page that a selector names, as balanced HTML; '' if there are none. */
export function selected(html: string, selector: string, work = Work.timed()): string {
  const whole = balanced(html, work);
  return matching(parsePiece(whole, work).root, selector, work)
    .map(({ sourceCodeLocation: at }) => (at ? whole.slice(at.startOffset, at.endOffset) : ''))
    .join('\n');
}
