import { defaultTreeAdapter, html as names } from 'parse5';
import type { Tree } from './bounded-parser';
import { type Element, endsImplied, isClosed, isElement, type Markup, type Node } from './html-tree';

/** What a tree says of its text. */
export interface Shape {
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
export function shapeOf(markup: Markup, text: string): Shape {
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
