import { LRUCache } from 'lru-cache';
import { serialize } from 'parse5';
import type { Tree } from './bounded-parser';
import { type Element, isBalanced, isClosed, isElement, parseDocument, parsePiece } from './html-tree';
import { Work } from './markup-work';
import { type Shape, shapeOf } from './regular';

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
