import { compile, selectAll } from 'css-select';
import { AppsError } from '../errors';
import { descendants, type Element, isElement, type Node } from './html-tree';

type Adapter = NonNullable<NonNullable<Parameters<typeof compile<Node, Element>>[1]>['adapter']>;

const parentOf = (node: Node): Element | null => {
  const parent = 'parentNode' in node ? node.parentNode : null;
  return parent && isElement(parent) ? parent : null;
};

const siblingsOf = (node: Node): Node[] => {
  const parent = 'parentNode' in node ? node.parentNode : null;
  return parent ? parent.childNodes : [node];
};

const textOf = (node: Node): string =>
  [node, ...descendants(node)].map((one) => ('value' in one ? one.value : '')).join('');

const lists = new WeakMap<Node, Element[]>();

/** All elements of a tree that nobody changes any more; a page is searched for many selectors. */
function elementsBelow(root: Node): Element[] {
  const list = lists.get(root) ?? descendants(root).filter(isElement);
  lists.set(root, list);
  return list;
}

const elementsOf = (nodes: Node[]): Element[] =>
  nodes.flatMap((node) => (isElement(node) ? [node, ...descendants(node).filter(isElement)] : elementsBelow(node)));

const attributeOf = (element: Element, name: string) =>
  element.attrs.find((attribute) => attribute.name === name)?.value;

/** How css-select walks over parse5's tree. */
const adapter: Adapter = {
  isTag: isElement,
  getName: (element) => element.tagName,
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
};

/** Nodes that stand in none of the others. */
function outermost(nodes: Node[]): Node[] {
  const all = new Set<Node>(nodes);
  return nodes.filter((node) => {
    for (let parent = parentOf(node); parent; parent = parentOf(parent)) if (all.has(parent)) return false;
    return true;
  });
}

/** Characters of a selector, at most. */
const MAX_LENGTH = 1_000;

/** Selectors kept compiled, at most: themes have few, but any number may come and go while one is written. */
const maxCompiled = 500;
const compiled = new Map<string, (element: Element) => boolean>();

function compiledSelector(selector: string): (element: Element) => boolean {
  const known = compiled.get(selector);
  if (known) return known;
  if (selector.length > MAX_LENGTH) throw new Error(`A selector has at most ${MAX_LENGTH} characters`);
  if (selector.trim() === '') throw new Error('A selector must not be empty');
  const test = compile<Node, Element>(selector, { adapter });
  if (compiled.size >= maxCompiled) compiled.clear();
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

/** The elements below `root` that a selector matches, in the order of the document, none inside another. */
export function matching(root: Node, selector: string): Element[] {
  const problem = selectorProblem(selector);
  if (problem) throw new AppsError('DefinitionError', `"${selector}" is not a CSS selector: ${problem}`);
  return outermost(selectAll<Node, Element>(compiledSelector(selector), [root], { adapter })) as Element[];
}
