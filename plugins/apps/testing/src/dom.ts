import { type compile, selectAll } from 'css-select';
import { defaultTreeAdapter, parse, serialize, serializeOuter, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import type { Element as TestElement } from '../index';

export type Node = Tree.Node;
export type Element = Tree.Element;

type Adapter = NonNullable<NonNullable<Parameters<typeof compile<Node, Element>>[1]>['adapter']>;

export const isElement = (node: Node): node is Element => defaultTreeAdapter.isElementNode(node);

export const childrenOf = (node: Node): Node[] => ('childNodes' in node ? node.childNodes : []);

const parentOf = (node: Node): Element | null => {
  const parent = 'parentNode' in node ? node.parentNode : null;
  return parent && isElement(parent) ? parent : null;
};

const descendants = (node: Node): Node[] => childrenOf(node).flatMap((child) => [child, ...descendants(child)]);

/** Value of an attribute, or undefined. */
export const attribute = (element: Element, name: string): string | undefined =>
  element.attrs.find((one) => one.name === name)?.value;

/** Elements whose content is no text of the page. */
const silent = new Set(['script', 'style', 'template', 'noscript']);

/** The text inside a node, unchanged. */
export function rawText(node: Node): string {
  if (defaultTreeAdapter.isTextNode(node)) return node.value;
  return isElement(node) && silent.has(node.tagName) ? '' : childrenOf(node).map(rawText).join('');
}

/** Elements after which the text goes on in the same line. */
const inline = new Set('a abbr b bdi code em i kbd mark meter q s small span strong sub sup time u var'.split(' '));

function spacedText(node: Node): string {
  if (defaultTreeAdapter.isTextNode(node)) return node.value;
  if (isElement(node) && silent.has(node.tagName)) return '';
  const text = childrenOf(node).map(spacedText).join('');
  return isElement(node) && !inline.has(node.tagName) ? ` ${text} ` : text;
}

/** The text inside a node, with single spaces. */
export const textOf = (node: Node): string => spacedText(node).replace(/\s+/g, ' ').trim();

const adapter: Adapter = {
  isTag: isElement,
  getName: (element) => element.tagName,
  getChildren: childrenOf,
  getParent: parentOf,
  getSiblings: (node) => ('parentNode' in node && node.parentNode ? node.parentNode.childNodes : [node]),
  getText: rawText,
  getAttributeValue: attribute,
  hasAttrib: (element, name) => attribute(element, name) !== undefined,
  existsOne: (test, nodes) =>
    nodes.some((node) => [node, ...descendants(node)].some((one) => isElement(one) && test(one))),
  findAll: (test, nodes) =>
    nodes
      .flatMap((node) => [node, ...descendants(node)])
      .filter(isElement)
      .filter(test),
  findOne: (test, nodes) =>
    nodes
      .flatMap((node) => [node, ...descendants(node)])
      .filter(isElement)
      .find(test) ?? null,
  removeSubsets: (nodes) =>
    nodes.filter((node) => !nodes.some((other) => other !== node && descendants(other).includes(node))),
  equals: (one, other) => one === other,
};

/** The elements below a node that a CSS selector matches, in the order of the page. Throws for a wrong selector. */
export function matching(root: Node, selector: string): Element[] {
  try {
    return selectAll<Node, Element>(selector, childrenOf(root), { adapter }) as Element[];
  } catch (error) {
    throw new Error(`"${selector}" is not a CSS selector: ${(error as Error).message}`);
  }
}

export const parsePage = (html: string): Node => parse(html);

/** What a field holds, as a browser would send it; null for an element that is no field. */
export function fieldValue(element: Element): string | null {
  if (element.tagName === 'textarea') return rawText(element);
  if (element.tagName === 'input') return attribute(element, 'value') ?? '';
  if (element.tagName !== 'select') return null;
  const options = matching(element, 'option');
  const chosen = options.find((option) => attribute(option, 'selected') !== undefined) ?? options[0];
  return chosen ? optionValue(chosen) : '';
}

export const optionValue = (option: Element): string => attribute(option, 'value') ?? textOf(option);

/** A part of a page for the tests. `html` is its only property of its own: node:assert shows it in messages. */
class PageElement implements TestElement {
  readonly html: string;
  readonly #root: Node;

  constructor(root: Node) {
    this.#root = root;
    this.html = isElement(root) ? serializeOuter(root) : serialize(root as Tree.ParentNode);
  }

  get name(): string {
    return isElement(this.#root) ? this.#root.tagName : '#document';
  }

  get text(): string {
    return textOf(this.#root);
  }

  get attributes(): Record<string, string> {
    return Object.fromEntries(isElement(this.#root) ? this.#root.attrs.map(({ name, value }) => [name, value]) : []);
  }

  get value(): string | null {
    return isElement(this.#root) ? fieldValue(this.#root) : null;
  }

  find(selector: string): TestElement | null {
    const [first] = matching(this.#root, selector);
    return first ? elementOf(first) : null;
  }

  findAll(selector: string): TestElement[] {
    return matching(this.#root, selector).map(elementOf);
  }
}

/** @param root an element, or a whole document */
export const elementOf = (root: Node): TestElement => new PageElement(root);
