import { defaultTreeAdapter, html as names, type ParserOptions } from 'parse5';
import { BoundedParser, boundedOptions, type Tree } from './bounded-parser';
import type { Work } from './markup-work';

export type Node = Tree['node'];
export type Element = Tree['element'];

const { isElementNode } = defaultTreeAdapter;
export const isElement = (node: Node): node is Element => isElementNode(node);

/** Void elements, which have no content. */
const empty = 'area base br col embed hr img input link meta param source track wbr';
const emptyElements = new Set(empty.split(' '));

/** Elements whose end tag may be missing without enclosing the text after their parent. */
export const endsImplied = new Set(
  'colgroup dd dt li optgroup option p rb rp rt rtc tbody td tfoot th thead tr'.split(' '),
);

/** Whether an element can have content. */
export const holdsContent = ({ tagName }: Element): boolean => !emptyElements.has(tagName);

/** HTML as nodes, which have positions in the text. */
export interface ParsedHtml {
  root: Tree['parentNode'];
  /** Tags of the text: more of them than elements mean that some have no effect of their own. */
  startTags: number;
  endTags: number;
  /** The text ends in the middle of a tag, a comment or the like. */
  cut: boolean;
}

/** A whole document. DefinitionError above `markupLimits`; errors of `work`. */
export const parseDocument = (html: string, work: Work): ParsedHtml =>
  parse(html, work, (options) => new BoundedParser(options));

/** A piece of HTML, independent of the element around it; limits as for a document. */
export const parsePiece = (html: string, work: Work): ParsedHtml =>
  parse(html, work, (options) => BoundedParser.getFragmentParser<Tree>(null, options) as BoundedParser);

function parse(html: string, work: Work, begin: (options: ParserOptions<Tree>) => BoundedParser): ParsedHtml {
  work.checkLength(html.length);
  let cut = false;
  const options = boundedOptions(work, {
    onParseError: ({ code }) => {
      cut ||= code.startsWith('eof-');
    },
  });
  const parser = begin(options);
  parser.tokenizer.write(html, true);
  const { startTags, endTags, fragmentContext, document } = parser;
  return { root: fragmentContext ? parser.getFragment() : document, startTags, endTags, cut };
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

/** Whether a piece neither closes elements around it in a page nor leaves its own open. */
export function isBalanced({ root, endTags, cut }: ParsedHtml, html: string): boolean {
  let closed = 0;
  for (const node of descendants(root)) {
    if (!isElement(node)) continue;
    if (node.sourceCodeLocation?.endTag) closed += 1;
    else if (!isClosed(node, html) && !endsImplied.has(node.tagName)) return false;
  }
  return closed === endTags && !cut;
}

/** Whether an element's end is written in the text: by an end tag, or by its start tag. */
export const isClosed = (element: Element, html: string): boolean =>
  element.sourceCodeLocation?.endTag !== undefined || !holdsContent(element) || closesItself(element, html);

/** Whether an element is self-closing, as `<path/>`: only in SVG and MathML. */
function closesItself({ namespaceURI, sourceCodeLocation }: Element, html: string): boolean {
  const end = sourceCodeLocation?.startTag?.endOffset;
  return namespaceURI !== names.NS.HTML && end !== undefined && html.slice(end - 2, end) === '/>';
}
