import { defaultTreeAdapter, html as names, serialize } from 'parse5';
import { BoundedParser, boundedOptions, type Tree } from './bounded-parser';
import { Work } from './markup-work';

export type Node = Tree['node'];
export type Element = Tree['element'];

const { isElementNode } = defaultTreeAdapter;
export const isElement = (node: Node): node is Element => isElementNode(node);

/** Void elements, which have no content. */
const empty = 'area base br col embed hr img input link meta param source track wbr';
const emptyElements = new Set(empty.split(' '));

/** Elements whose end tag may be missing without enclosing the text after their parent. */
const endsImplied = 'colgroup dd dt li optgroup option p rb rp rt rtc tbody td tfoot th thead tr';
const closedByThemselves = new Set([...emptyElements, ...endsImplied.split(' ')]);

/** Whether an element can have content. */
export const holdsContent = ({ tagName }: Element): boolean => !emptyElements.has(tagName);

/** A whole document; its nodes have positions in the text. DefinitionError above `markupLimits`; errors of `work`. */
export function parseDocument(html: string, work: Work): Tree['document'] {
  work.checkLength(html.length);
  return BoundedParser.parse<Tree>(html, boundedOptions(work));
}

interface Piece {
  root: Tree['documentFragment'];
  /** End tags of the text: more of them than elements mean that the markup is not balanced. */
  endTags: number;
  /** The text ends in the middle of a tag, a comment or the like. */
  cut: boolean;
}

/** A piece of HTML as nodes, independent of the element around it; limits as for a document. */
export function parsePiece(html: string, work: Work): Piece {
  work.checkLength(html.length);
  let cut = false;
  const options = boundedOptions(work, {
    onParseError: ({ code }) => {
      cut ||= code.startsWith('eof-');
    },
  });
  const parser = BoundedParser.getFragmentParser<Tree>(null, options) as BoundedParser;
  parser.tokenizer.write(html, true);
  return { root: parser.getFragment() as Tree['documentFragment'], endTags: parser.endTags, cut };
}

/** All nodes inside a node, in the order of the document. */
export function descendants(node: Node): Node[] {
  const found: Node[] = [];
  const waiting = childrenOf(node).reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    found.push(next);
    for (const child of childrenOf(next).reverse()) waiting.push(child);
  }
  return found;
}

const childrenOf = (node: Node): Node[] => ('childNodes' in node ? [...node.childNodes] : []);

/**
 * The HTML balanced: it neither closes elements around it in a page nor leaves its own open. Balanced HTML is returned
 * byte for byte. Limits as for a document.
 */
export function balanced(html: string, work = Work.timed()): string {
  const { root, endTags, cut } = parsePiece(html, work);
  let closed = 0;
  for (const node of descendants(root)) {
    if (!isElement(node)) continue;
    if (node.sourceCodeLocation?.endTag) closed += 1;
    else if (!closedByThemselves.has(node.tagName) && !closesItself(node, html)) return serialize(root);
  }
  return closed === endTags && !cut ? html : serialize(root);
}

/** Whether an element is self-closing, as `<path/>`: only in SVG and MathML. */
function closesItself({ namespaceURI, sourceCodeLocation }: Element, html: string): boolean {
  const end = sourceCodeLocation?.startTag?.endOffset;
  return namespaceURI !== names.NS.HTML && end !== undefined && html.slice(end - 2, end) === '/>';
}
