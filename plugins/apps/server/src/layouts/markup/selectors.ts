import { compile, selectAll } from 'css-select';
import { LRUCache } from 'lru-cache';
import { defaultTreeAdapter, html as names, type ParserOptions } from 'parse5';
import { memoized } from '../../common/collections';
import { definitionError } from '../../common/errors';
import { BoundedParser, boundedOptions, TimeUp, TooLargeInline, type Tree, Work } from './bounded-parser';

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

type Adapter = NonNullable<NonNullable<Parameters<typeof compile<Node, Element>>[1]>['adapter']>;

/** Counter of the current search; searches are synchronous, so that there is at most one. */
const search: { work: Work; length: number } = { work: Work.timed(Number.POSITIVE_INFINITY), length: 0 };

/** Counts steps: a selector with several `~` or `:has()` takes polynomial time in the page's size. */
const step = (count = 1): void => search.work.spend(count);

/** Counts the comparison of a text with parts of the selector: quadratic time at worst. */
function stepText(text: string): void {
  step(text.length < 200 ? 1 : (text.length * search.length) / 64);
}

const parentOf = (node: Node): Element | null => {
  step();
  const parent = 'parentNode' in node ? node.parentNode : null;
  return parent && isElement(parent) ? parent : null;
};

const siblingsOf = (node: Node): Node[] => {
  const parent = 'parentNode' in node ? node.parentNode : null;
  const siblings = parent ? parent.childNodes : [node];
  step(siblings.length / 8);
  return siblings;
};

const textOf = (node: Node): string => {
  const nodes = [node, ...descendants(node)];
  step(4 * nodes.length);
  const text = nodes.map((one) => ('value' in one ? one.value : '')).join('');
  stepText(text);
  return text;
};

/** All elements of a tree, in its order; kept by its root, because a page is searched for many selectors. */
export const elementsBelow = memoized((root: Node): Element[] => descendants(root).filter(isElement));

const elementsOf = (nodes: Node[]): Element[] => {
  const found = nodes.flatMap((node) =>
    isElement(node) ? [node, ...descendants(node).filter(isElement)] : elementsBelow(node),
  );
  step(2 * found.length);
  return found;
};

const attributeOf = ({ attrs }: Element, name: string) => {
  step(1 + attrs.length / 8);
  const value = attrs.find((attribute) => attribute.name === name)?.value;
  if (value !== undefined) stepText(value);
  return value;
};

/** css-select's access to parse5's tree. */
const adapter: Adapter = {
  isTag: (node): node is Element => {
    step();
    return isElement(node);
  },
  getName: (element) => {
    step();
    return element.tagName;
  },
  getChildren: (node) => ('childNodes' in node ? node.childNodes : []),
  getParent: parentOf,
  getSiblings: siblingsOf,
  getText: textOf,
  getAttributeValue: attributeOf,
  hasAttrib: (element, name) => attributeOf(element, name) !== undefined,
  existsOne: (test, nodes) => elementsOf(nodes).some(test),
  findAll: (test, nodes) => elementsOf(nodes).filter(test),
  findOne: (test, nodes) => elementsOf(nodes).find(test) ?? null,
  removeSubsets: outermost,
  equals: (one, other) => {
    step();
    return one === other;
  },
};

/** Nodes that are inside none of the others. */
function outermost(nodes: Node[]): Node[] {
  const all = new Set<Node>(nodes);
  return nodes.filter((node) => {
    for (let parent = parentOf(node); parent; parent = parentOf(parent)) if (all.has(parent)) return false;
    return true;
  });
}

/** Maximum characters of a selector. */
export const MAX_LENGTH = 1_000;

/** Maximum cached selectors: themes have few, but editing a theme adds more. */
const MAX_COMPILED = 500;
const compiled = new LRUCache<string, (element: Element) => boolean>({ max: MAX_COMPILED });

function compiledSelector(selector: string): (element: Element) => boolean {
  const known = compiled.get(selector);
  if (known) return known;
  if (selector.length > MAX_LENGTH) throw new Error(`A selector has at most ${MAX_LENGTH} characters`);
  if (selector.trim() === '') throw new Error('A selector must not be empty');
  const test = compile<Node, Element>(selector, { adapter });
  compiled.set(selector, test);
  return test;
}

/** Why a text is no CSS selector; null if it is one. */
export function selectorProblem(selector: string): string | null {
  try {
    compiledSelector(selector);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The elements below `root` that a selector matches, in the order of the document, none inside another.
 * DefinitionError for an invalid selector, and when the time is up; TooLargeInline at the limit of the main thread.
 */
export function matching(root: Node, selector: string, work: Work): Element[] {
  const problem = selectorProblem(selector);
  if (problem) throw definitionError(`"${selector}" is not a CSS selector: ${problem}`);
  const before = { ...search };
  Object.assign(search, { work, length: selector.length });
  try {
    return outermost(selectAll<Node, Element>(compiledSelector(selector), [root], { adapter })) as Element[];
  } catch (error) {
    if (error instanceof TooLargeInline) throw error;
    const reason = error instanceof TimeUp ? 'it takes too long to search the page for it' : (error as Error).message;
    throw definitionError(`The selector "${selector}": ${reason}`, undefined, error);
  } finally {
    Object.assign(search, before);
  }
}
