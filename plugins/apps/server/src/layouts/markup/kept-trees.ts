import { LRUCache } from 'lru-cache';
import { defaultTreeAdapter, html as names, serialize } from 'parse5';
import { type Tree, Work } from './bounded-parser';
import {
  type Element,
  endsImplied,
  isBalanced,
  isClosed,
  isElement,
  type Node,
  type ParsedHtml,
  parseDocument,
  parsePiece,
} from './selectors';

/** What a tree says of its text. */
interface Shape {
  /** Elements, texts and comments. */
  nodes: number;
  /** Elements inside each other. */
  depth: number;
  /**
   * Each tag of the text is the start or the end of one element, and the elements are in the tree as their tags are in the text: no
   * tag was ignored, nothing was moved or repeated, and no element is left open.
   */
  isRegular: boolean;
}

/** Elements that a parser adds where their start tags are missing. */
const added = new Set(['html', 'head', 'body', 'colgroup', 'tbody', 'tr']);
/** Elements that end with the text, or where their parent does. */
const mayStayOpen = new Set(['html', 'head', ...endsImplied]);

/** Deeper trees count as irregular: they are copied by functions that call themselves. */
const MAX_DEPTH = 500;

/** Looks at a tree and its text once. */
function shapeOf(markup: ParsedHtml, text: string): Shape {
  const check = new Check(text);
  const isInOrder = check.children(markup.root, 0);
  const { nodes, depth, startTags, endTags } = check;
  const hasAllTags = startTags === markup.startTags && endTags === markup.endTags;
  return { nodes, depth, isRegular: isInOrder && hasAllTags && !markup.cut };
}

class Check {
  nodes = 0;
  depth = 0;
  startTags = 0;
  endTags = 0;
  /** The end of the last tag in the order of the tree. */
  private at = 0;

  constructor(private readonly text: string) {}

  /** Whether the nodes inside of one are regular. */
  children(parent: Node, depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    this.depth = Math.max(this.depth, depth);
    const nodes = 'childNodes' in parent ? parent.childNodes : [];
    this.nodes += nodes.length;
    for (const node of nodes) if (isElement(node) && !this.element(node, depth + 1)) return false;
    return true;
  }

  private element(element: Element, depth: number): boolean {
    const { tagName, sourceCodeLocation: place } = element;
    const inside = tagName === 'template' ? contentOf(element) : element;
    if (!place?.startTag) return added.has(tagName) && this.children(inside, depth);
    const { startTag, endTag, endOffset } = place;
    if (!this.passes(startTag)) return false;
    this.startTags += 1;
    if (!this.children(inside, depth)) return false;
    if (endTag) {
      this.endTags += 1;
      return this.passes(endTag);
    }
    if (isClosed(element, this.text)) return element.childNodes.length === 0 && endOffset === this.at;
    return mayStayOpen.has(tagName) && element.namespaceURI === names.NS.HTML;
  }

  /** Whether a tag comes after those before it in the tree. */
  private passes({ startOffset, endOffset }: { startOffset: number; endOffset: number }): boolean {
    const isNext = startOffset >= this.at;
    this.at = endOffset;
    return isNext;
  }
}

const contentOf = (element: Element): Node => defaultTreeAdapter.getTemplateContent(element as Tree['template']);

/** The tree of a text, which is not changed. */
export interface KeptTree extends Shape {
  root: Tree['parentNode'];
}

interface KeptPiece extends KeptTree {
  isBalanced: boolean;
}

/*
 * Pages and blocks are mostly the same texts as a moment ago: what belongs to one visitor, such as a token, is put in later. A
 * tree is kept by its text, so that a new text of a theme or a block simply has another one.
 */

/** Nodes of all trees that are kept of pages, and of pieces: some 500 bytes each. */
const MAX_NODES = { pages: 20_000, pieces: 10_000 };

const keep = <T extends Shape>(maxSize: number) =>
  new LRUCache<string, T>({ maxSize, sizeCalculation: ({ nodes }, text) => 1 + nodes + (text.length >> 8) });
const pages = keep<KeptTree>(MAX_NODES.pages);
const pieces = keep<KeptPiece>(MAX_NODES.pieces);

/** The tree of a page. Limits and errors as of `parseDocument`. */
export const pageTree = (html: string, work: Work): KeptTree =>
  kept(pages, html, () => {
    const markup = parseDocument(html, work);
    return { root: markup.root, ...shapeOf(markup, html) };
  });

/**
 * The tree of a piece of HTML; limits and errors as of `parsePiece`. It is regular where it is also the tree of the piece in an
 * element such as `div`, and begins and ends with elements that leave nothing open.
 */
export const pieceTree = (html: string, work: Work): KeptPiece =>
  kept(pieces, html, () => {
    const markup = parsePiece(html, work);
    const { root } = markup;
    const shape = shapeOf(markup, html);
    const isRegular = shape.isRegular && isWhole(root, html);
    return { root, ...shape, isRegular, isBalanced: shape.isRegular || isBalanced(markup, html) };
  });

/** Elements that a parser takes at the beginning of a piece, as of a table or of the head of a page, but not in a `div`. */
const leading = new Set(
  (
    'base basefont bgsound caption col colgroup link meta noframes script style tbody td template tfoot th thead ' +
    'title tr'
  ).split(' '),
);

function isWhole({ childNodes: nodes }: Tree['parentNode'], html: string): boolean {
  const [first, last] = [nodes[0], nodes.at(-1)];
  if (!first || !isElement(first) || !last || !isElement(last) || leading.has(first.tagName)) return false;
  return nodes.every((node) => !isElement(node) || isClosed(node, html));
}

/**
 * The HTML balanced: it neither closes elements around it in a page nor leaves its own open. Balanced HTML is returned
 * byte for byte. Limits as for a document.
 */
export function balanced(html: string, work = Work.timed()): string {
  const { isBalanced, root } = pieceTree(html, work);
  return isBalanced ? html : serialize(root);
}

function kept<T extends Shape>(trees: LRUCache<string, T>, html: string, make: () => T): T {
  const known = trees.get(html);
  if (known) return known;
  const made = make();
  trees.set(html, made);
  return made;
}

type Parent = Tree['parentNode'];
type Child = Tree['childNode'];

/** Copies of the nodes inside of one. @param begin what is added to all positions */
export const copies = (from: Parent, parent: Parent, begin: number): Child[] =>
  from.childNodes.map((node) => copyOf(node, parent, begin));

function copyOf(node: Child, parentNode: Parent, begin: number): Child {
  if (!isElement(node)) return { ...node, parentNode } as Child;
  const { nodeName, tagName, attrs, namespaceURI, sourceCodeLocation } = node;
  const place = sourceCodeLocation?.startTag ? moved(sourceCodeLocation, begin) : null;
  const copy = { nodeName, tagName, attrs, namespaceURI, sourceCodeLocation: place, parentNode, childNodes: [] };
  const element = copy as unknown as Element;
  element.childNodes = copies(node, element, begin);
  return element;
}

type Place = NonNullable<Element['sourceCodeLocation']>;

/** The positions that rules need. */
function moved({ startOffset, endOffset, startTag, endTag }: Place, by: number): Place {
  const at = (tag: { startOffset: number; endOffset: number } | undefined) =>
    tag && { startOffset: tag.startOffset + by, endOffset: tag.endOffset + by };
  const place = {
    startOffset: startOffset + by,
    endOffset: endOffset + by,
    startTag: at(startTag),
    endTag: at(endTag),
  };
  return place as Place;
}
