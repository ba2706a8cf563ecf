import { html as names } from 'parse5';
import { markupLimits, type Tree, type Work } from './bounded-parser';
import { copies, type KeptTree, pageTree, pieceTree } from './kept-trees';
import { type Element, elementsBelow, isClosed, isElement, type Node } from './selectors';

/** What a theme rule does with a block at a matching element (docs/reference/embedding.md#theme-rules). */
export const ruleActions = ['before', 'after', 'replace', 'prepend', 'append'] as const;
export type RuleAction = (typeof ruleActions)[number];

/** A place of a page where a piece of HTML is put in. */
export interface Splice {
  action: RuleAction;
  /** The element that the rule has found. */
  element: Element;
  /** Offsets of the text that is replaced; equal for an insertion. */
  from: number;
  to: number;
}

type Parent = Tree['parentNode'];
type Child = Tree['childNode'];

/** Elements in which a parser makes of a regular piece what it makes of it alone: it ends none of them, and none changes it. */
const plain = new Set(
  (
    'address article aside blockquote body center details dialog div dl fieldset figcaption figure footer header ' +
    'hgroup html label main menu nav ol search section span summary ul'
  ).split(' '),
);
const isPlain = ({ tagName, namespaceURI }: Element): boolean =>
  namespaceURI === names.NS.HTML && (plain.has(tagName) || tagName.includes('-'));

/**
 * The tree of a page, into which pieces are put where it is then the tree that a parser would make of the changed text. At all
 * other places the changed text has to be parsed.
 */
export class PageTree {
  /** Another object after each change, because the elements below it are kept by it. */
  root: Parent;
  private nodes: number;
  private readonly isRegular: boolean;

  /** Limits and errors as of `parseDocument`. */
  constructor(
    private text: string,
    work: Work,
  ) {
    const tree = pageTree(text, work);
    work.spend(tree.nodes);
    this.root = tree.isRegular ? withChildren(tree.root, (root) => copies(tree.root, root, 0)) : tree.root;
    this.nodes = tree.nodes;
    this.isRegular = tree.isRegular;
  }

  /**
   * Puts a piece of HTML into the tree.
   * @param splices places in this tree, in the order of the text
   * @param text the page with the pieces
   * @returns false where the text has to be parsed; then nothing is changed. Errors of `work`, limits of `parsePiece`
   */
  put(splices: readonly Splice[], html: string, text: string, work: Work): boolean {
    if (!this.isRegular || !html.startsWith('<') || !html.endsWith('>')) return false;
    const places = this.places(splices, work);
    const tail = tailOf(this.text);
    if (!places || tail === null) return false;
    const piece = pieceTree(html, work);
    const nodes = this.nodes + piece.nodes * splices.length;
    const isDeep = [...places.values()].some(({ depth }) => depth + piece.depth > markupLimits.depth);
    if (!piece.isRegular || nodes > markupLimits.nodes || isDeep) return false;
    work.spend(nodes);
    const shifts = shiftsOf(splices, html.length);
    for (const element of elementsBelow(this.root)) move(element, splices, shifts);
    const begins = new Map(splices.map((splice, index) => [splice, splice.from + (shifts[index] ?? 0)]));
    for (const [parent, place] of places) fill(parent, place, piece, begins, tail);
    this.root = withChildren(this.root, (root) => this.root.childNodes.map((node) => adopted(node, root)));
    this.nodes = nodes;
    this.text = text;
    return true;
  }

  /** The splices by the elements that get the pieces; null if one of them may get them otherwise than the tree says. */
  private places(splices: readonly Splice[], work: Work): Map<Element, Place> | null {
    const places = new Map<Element, Place>();
    for (const splice of splices) {
      const parent = isInside(splice) ? splice.element : splice.element.parentNode;
      if (!parent || !isElement(parent)) return null;
      const known = places.get(parent) ?? { at: new Map(), depth: plainDepth(parent, work) };
      known.at.set(splice.element, splice);
      places.set(parent, known);
    }
    for (const [parent, place] of places) if (place.depth === 0 || !this.isOpen(parent, place)) return null;
    return places;
  }

  /** Whether at all places in an element no other element inside of it is still open. */
  private isOpen(parent: Element, { at }: Place): boolean {
    const isShut = (element: Element | null) => element === null || isClosed(element, this.text);
    let last: Element | null = null;
    for (const node of parent.childNodes) {
      if (!isElement(node)) continue;
      const action = at.get(node)?.action;
      if ((action === 'before' || action === 'replace') && !isShut(last)) return false;
      if ((action === 'after' || action === 'replace') && !isShut(node)) return false;
      last = node;
    }
    return at.get(parent)?.action !== 'append' || isShut(last);
  }
}

/** The places in one element, by the elements that the rule has found: itself, or some of its children. */
interface Place {
  at: Map<Node, Splice>;
  /** Elements around the place; 0 where one of them is not plain. */
  depth: number;
}

const isInside = ({ action }: Splice): boolean => action === 'prepend' || action === 'append';

/** The depth of an element whose end is written in the text, as are those of all around it up to `body`; else 0. */
function plainDepth(element: Element, work: Work): number {
  let depth = 0;
  if (element.tagName === 'html') return 0;
  for (let node: Node | null = element; node && isElement(node); node = node.parentNode) {
    const hasTags = node.sourceCodeLocation?.endTag !== undefined || node.tagName === 'html';
    if (!isPlain(node) || !hasTags) return 0;
    depth += 1;
  }
  work.spend(depth / 8);
  return depth;
}

/** How far positions are moved that have none, one, two … of the splices before them. */
function shiftsOf(splices: readonly Splice[], length: number): number[] {
  const shifts = [0];
  for (const { from, to } of splices) shifts.push((shifts.at(-1) ?? 0) + length - (to - from));
  return shifts;
}

function move({ sourceCodeLocation: place }: Element, splices: readonly Splice[], shifts: readonly number[]): void {
  if (!place) return;
  // At one position, an element ends before the piece, and another one begins after it.
  const start = (at: number) => at + (shifts[countBefore(splices, at + 1)] ?? 0);
  const end = (at: number) => at + (shifts[countBefore(splices, at)] ?? 0);
  const { startTag, endTag } = place;
  place.startOffset = start(place.startOffset);
  if (startTag) [startTag.startOffset, startTag.endOffset] = [start(startTag.startOffset), end(startTag.endOffset)];
  if (endTag) [endTag.startOffset, endTag.endOffset] = [start(endTag.startOffset), end(endTag.endOffset)];
  place.endOffset = end(place.endOffset);
}

/** The number of splices that end before a position. */
function countBefore(splices: readonly Splice[], position: number): number {
  let [low, high] = [0, splices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((splices[middle] as Splice).to < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** White space after the end of the body, which a parser puts into it. */
const TAIL = /<\/body>([\t\n\f ]*)(?:<\/html>([\t\n\f ]*))?$/i;

function tailOf(text: string): string | null {
  const [whole, inside, outside = ''] = TAIL.exec(text) ?? [];
  return whole === undefined ? null : inside + outside;
}

/**
 * Puts copies of a piece into an element.
 * @param begins their positions in the text
 * @param tail the end of the last text in the body that comes after the body in the text
 */
function fill(
  parent: Element,
  { at }: Place,
  piece: KeptTree,
  begins: ReadonlyMap<Splice, number>,
  tail: string,
): void {
  const copied = (splice: Splice) => copies(piece.root, parent, begins.get(splice) ?? 0);
  const children: Child[] = [];
  const own = at.get(parent);
  if (own?.action === 'prepend') children.push(...copied(own));
  for (const node of parent.childNodes) {
    const splice = at.get(node);
    if (!splice) {
      children.push(node);
      continue;
    }
    const nodes = copied(splice);
    if (splice.action === 'after') children.push(node);
    children.push(...nodes);
    if (splice.action === 'before') children.push(node);
  }
  if (own?.action === 'append') {
    const after = parent.tagName === 'body' ? cutText(children, tail) : [];
    children.push(...copied(own), ...after);
  }
  parent.childNodes = children;
}

/** Takes the end of the last text of a list; returns it as a text of its own. */
function cutText(nodes: Child[], end: string): Child[] {
  const last = nodes.at(-1);
  if (end === '' || !last || !('value' in last)) return [];
  nodes.pop();
  const before = last.value.slice(0, last.value.length - end.length);
  if (before !== '') nodes.push({ ...last, value: before });
  return [{ ...last, value: end }];
}

/** Another root with the given children. */
function withChildren(root: Parent, childrenOf: (root: Parent) => Child[]): Parent {
  const other = { ...root };
  other.childNodes = childrenOf(other);
  return other;
}

function adopted(node: Child, parent: Parent): Child {
  node.parentNode = parent;
  return node;
}
