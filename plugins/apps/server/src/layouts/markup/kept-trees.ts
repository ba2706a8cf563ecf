import { LRUCache } from 'lru-cache';
import { defaultTreeAdapter, html as names } from 'parse5';
import type { Tree } from './bounded-parser';
import { type Element, isClosed, isElement, parseDocument, parsePiece } from './html-tree';
import type { Work } from './markup-work';
import { type Shape, shapeOf } from './regular';

/** The tree of a text, which is not changed. */
export interface KeptTree extends Shape {
  root: Tree['parentNode'];
}

/*
 * Pages and blocks are mostly the same texts as a moment ago: what belongs to one visitor, such as a token, is put in later. A
 * tree is kept by its text, so that a new text of a theme or a block simply has another one.
 */

/** Nodes of all trees that are kept of pages, and of pieces: some 500 bytes each. */
const MAX_NODES = { pages: 20_000, pieces: 10_000 };

const keep = (maxSize: number) =>
  new LRUCache<string, KeptTree>({ maxSize, sizeCalculation: ({ nodes }, text) => 1 + nodes + (text.length >> 8) });
const pages = keep(MAX_NODES.pages);
const pieces = keep(MAX_NODES.pieces);

/** The tree of a page. Limits and errors as of `parseDocument`. */
export const pageTree = (html: string, work: Work): KeptTree =>
  kept(pages, html, () => {
    const markup = parseDocument(html, work);
    return { root: markup.root, ...shapeOf(markup, html) };
  });

/**
 * The tree of a piece of HTML in an element such as `div`; limits and errors as of `parsePiece`. It is regular where it begins and
 * ends with elements, and leaves nothing open.
 */
export const pieceTree = (html: string, work: Work): KeptTree =>
  kept(pieces, html, () => {
    const markup = parsePiece(html, work, defaultTreeAdapter.createElement('div', names.NS.HTML, []));
    const { root } = markup;
    const shape = shapeOf(markup, html);
    const [first, last] = [root.childNodes[0], root.childNodes.at(-1)];
    const isWhole = first !== undefined && isElement(first) && last !== undefined && isElement(last);
    const isShut = root.childNodes.every((node) => !isElement(node) || isClosed(node, html));
    return { root, ...shape, isRegular: shape.isRegular && isWhole && isShut };
  });

function kept(trees: LRUCache<string, KeptTree>, html: string, make: () => KeptTree): KeptTree {
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
