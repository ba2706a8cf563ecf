import { defaultTreeAdapter, html as names, serialize } from 'parse5';
import { BoundedParser, boundedOptions, type Tree } from './bounded-parser';
import { Work } from './markup-work';

export type Node = Tree['node'];
export type Element = Tree['element'];

const { isElementNode } = defaultTreeAdapter;
export const isElement = (node: Node): node is Element => isElementNode(node);

/** Elements that can hold nothing. */
const empty = 'area base br col embed hr img input link meta param source track wbr';
const emptyElements = new Set(empty.split(' '));

/** Elements whose end tag may be left out without swallowing what comes after the element around them. */
const endsImplied = 'colgroup dd dt li optgroup option p rb rp rt rtc tbody td tfoot th thead tr';
const closedByThemselves = new Set([...emptyElements, ...endsImplied.split(' ')]);

/** Whether an element can hold something. */
export const holdsContent = ({ tagName }: Element): boolean => !emptyElements.has(tagName);

/**
 * A whole document; its nodes know where in the text they stand. DefinitionError over `markupLimits`; whatever `work`
 * throws at its bound.
 */
export function parseDocument(html: string, work: Work): Tree['document'] {
  work.checkLength(html.length);
  return BoundedParser.parse<Tree>(html, boundedOptions(work));
}

interface Piece {
  root: Tree['documentFragment'];
  /** How many the text has: more of them than elements tell that the markup is not balanced. */
  endTags: number;
  /** The text ends in the middle of a tag, a comment or the like. */
  cut: boolean;
}

/** A piece of HTML as nodes, whatever element it may stand in; bounds as for a document. */
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
 * The same HTML, balanced: nothing of it ends or swallows what stands around it in a page. HTML that is balanced
 * already comes back byte for byte. Bounds as for a document.
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

/** `<path/>`, which only SVG and MathML know. */
function closesItself({ namespaceURI, sourceCodeLocation }: Element, html: string): boolean {
  const end = sourceCodeLocation?.startTag?.endOffset;
  return namespaceURI !== names.NS.HTML && end !== undefined && html.slice(end - 2, end) === '/>';
}
