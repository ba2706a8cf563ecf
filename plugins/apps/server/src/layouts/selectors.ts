import { compile, selectAll } from 'css-select';
import { AppsError } from '../errors';
import { descendants, type Element, isElement, type Node } from './html-tree';

type Adapter = NonNullable<NonNullable<Parameters<typeof compile<Node, Element>>[1]>['adapter']>;

/** Milliseconds that all selectors of one page may take together. */
export interface SelectorTime {
  left: number;
}

/** Steps of a search between two looks at the clock. */
const STRIDE = 1_000;

/** The search that is at work; searches are synchronous, so there is one at most. */
const search = { steps: 0, end: Number.POSITIVE_INFINITY };

/** A selector of several `~` or `:has()` takes a power of the page's size in time: it is stopped. */
function step(count = 1): void {
  search.steps += count;
  if (search.steps < STRIDE) return;
  search.steps = 0;
  if (performance.now() > search.end) throw new Error('it takes too long to search the page for it');
}

const parentOf = (node: Node): Element | null => {
  step();
  const parent = 'parentNode' in node ? node.parentNode : null;
  return parent && isElement(parent) ? parent : null;
};

const siblingsOf = (node: Node): Node[] => {
  const parent = 'parentNode' in node ? node.parentNode : null;
  return parent ? parent.childNodes : [node];
};

const textOf = (node: Node): string => {
  const nodes = [node, ...descendants(node)];
  step(nodes.length);
  return nodes.map((one) => ('value' in one ? one.value : '')).join('');
};

const lists = new WeakMap<Node, Element[]>();

/** All elements of a tree that nobody changes any more; a page is searched for many selectors. */
function elementsBelow(root: Node): Element[] {
  const list = lists.get(root) ?? descendants(root).filter(isElement);
  lists.set(root, list);
  return list;
}

const elementsOf = (nodes: Node[]): Element[] => {
  const found = nodes.flatMap((node) =>
    isElement(node) ? [node, ...descendants(node).filter(isElement)] : elementsBelow(node),
  );
  step(found.length);
  return found;
};

const attributeOf = (element: Element, name: string) =>
  element.attrs.find((attribute) => attribute.name === name)?.value;

/** How css-select walks over parse5's tree. */
const adapter: Adapter = {
  isTag: (node): node is Element => {
    step();
    return isElement(node);
  },
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

/**
 * The elements below `root` that a selector matches, in the order of the document, none inside another.
 * DefinitionError for what is no selector, and when the time is up.
 */
export function matching(root: Node, selector: string, time: SelectorTime): Element[] {
  const problem = selectorProblem(selector);
  if (problem) throw new AppsError('DefinitionError', `"${selector}" is not a CSS selector: ${problem}`);
  const begin = performance.now();
  Object.assign(search, { steps: 0, end: begin + time.left });
  try {
    return outermost(selectAll<Node, Element>(compiledSelector(selector), [root], { adapter })) as Element[];
  } catch (error) {
    throw new AppsError('DefinitionError', `The selector "${selector}": ${(error as Error).message}`, { cause: error });
  } finally {
    search.end = Number.POSITIVE_INFINITY;
    time.left -= performance.now() - begin;
  }
}
