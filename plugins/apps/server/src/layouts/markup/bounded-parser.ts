import {
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  Parser,
  type ParserOptions,
  type Token,
  Tokenizer,
  type TreeAdapter,
} from 'parse5';
import { type AppsError, definitionError } from '../../common/errors';
import { processorTime } from '../limits';

/** Limits of one piece of HTML: a block, a page. HTML above them is refused with a DefinitionError. */
export const markupLimits = {
  characters: 4_000_000,
  /** Elements, texts and comments, including those that the parser adds. */
  nodes: 200_000,
  /** Elements inside each other. */
  depth: 3_000,
  /** Attributes of one tag. */
  attributes: 1_000,
  /** Milliseconds of CPU time for one task of a worker process. */
  time: 3_000,
};

/**
 * Limits of work on the server's main thread; larger work goes to a worker process. A step is 20 to 50 ns: parsing an
 * element costs 50, testing an element against a selector 1.
 */
export const inlineLimits = { characters: 50_000, steps: 600_000 };

/** The work is too large for the main thread and needs a worker process. Stays inside layouts/. */
export class TooLargeInline extends Error {}

/** The time of a task in a worker process is up. Stays inside layouts/. */
export class TimeUp extends Error {
  constructor(readonly time: number) {
    super(`it takes longer than ${time} ms`);
  }
}

/** Steps between two readings of the clock. */
const STRIDE = 2_000;

/**
 * Counts the work on one piece of HTML and ends it at its limit: on the main thread after `inlineLimits` with
 * TooLargeInline, in a worker process after `time` milliseconds with TimeUp. It measures CPU time, so that HTML is not
 * refused because the machine is busy.
 */
export class Work {
  #steps = 0;
  #next: number;
  #isOver = false;

  /** @param end the processor time of this process at which `time` is up */
  private constructor(
    private readonly inline: boolean,
    readonly time: number,
    private readonly end: number,
  ) {
    this.#next = inline ? inlineLimits.steps : STRIDE;
  }

  static inline(): Work {
    return new Work(true, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** @param time milliseconds of CPU time from now */
  static timed(time: number = markupLimits.time): Work {
    return new Work(false, time, processorTime() + time);
  }

  /** Whether the time was up at the last reading of the clock. */
  get isTimeUp(): boolean {
    return this.#isOver && !this.inline;
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#next) this.#checkBound();
  }

  #checkBound(): void {
    this.#isOver = this.inline || processorTime() > this.end;
    this.#next = this.#isOver ? -1 : this.#steps + STRIDE;
    if (this.#isOver) throw this.inline ? new TooLargeInline() : new TimeUp(this.time);
  }

  /** Called before HTML of that many characters is parsed. */
  checkLength(characters: number): void {
    if (this.inline && characters > inlineLimits.characters) throw new TooLargeInline();
    if (characters > markupLimits.characters) throw tooLarge(`${markupLimits.characters} characters`);
  }
}

export const tooMuchWork = (reason: string): AppsError => definitionError(`The HTML is too much work: ${reason}`);

/** @param what the limit, e.g. `1000 attributes in one tag` */
export const tooLarge = (what: string): AppsError => definitionError(`HTML may have at most ${what}`);

/*
 * HTML's rules for bad markup make parse5 do work for one tag that grows with the text before it: it scans all open
 * elements, opens unclosed formatting elements again and again, moves children. Here each such piece of work is counted,
 * so that every parse ends at its limit.
 */

export type Tree = DefaultTreeAdapterMap;
type Container = Tree['parentNode'];
type Child = Tree['childNode'];

/** Steps for a node; scanning some open elements is one step. */
const NODE_STEPS = 50;

/** Counters of one parse. */
class Meter {
  nodes = 0;
  text = 0;
  /** Steps of one scan of the open and the unclosed formatting elements. */
  scan = 0;

  constructor(readonly work: Work) {}

  node(): void {
    this.nodes += 1;
    if (this.nodes > markupLimits.nodes) throw tooLarge(`${markupLimits.nodes} elements and texts`);
    this.work.spend(NODE_STEPS + this.scan);
  }

  /** The parser repeats unclosed formatting elements with their attributes, which count each time. */
  attributes(attrs: readonly Token.Attribute[]): void {
    for (const { name, value } of attrs) this.text += name.length + value.length;
    if (this.text > 2 * markupLimits.characters)
      throw tooLarge(`${2 * markupLimits.characters} characters in attributes`);
    this.work.spend(attrs.length);
  }
}

/** parse5's own tree adapter, which counts its work. */
function countedAdapter(meter: Meter): TreeAdapter<Tree> {
  const { work } = meter;
  const adapter: TreeAdapter<Tree> = {
    ...defaultTreeAdapter,
    createElement(tagName, namespace, attrs) {
      meter.node();
      meter.attributes(attrs);
      return defaultTreeAdapter.createElement(tagName, namespace, attrs);
    },
    createCommentNode(data) {
      meter.node();
      return defaultTreeAdapter.createCommentNode(data);
    },
    insertText(parent, text) {
      work.spend(2);
      const last = parent.childNodes.at(-1);
      if (last && defaultTreeAdapter.isTextNode(last)) last.value += text;
      else defaultTreeAdapter.appendChild(parent, textNode(text));
    },
    insertBefore(parent, node, reference) {
      insertAt(parent, node, indexOf(parent, reference));
    },
    insertTextBefore(parent, text, reference) {
      const index = indexOf(parent, reference);
      const previous = parent.childNodes[index - 1];
      if (previous && defaultTreeAdapter.isTextNode(previous)) previous.value += text;
      else insertAt(parent, textNode(text), index);
    },
    detachNode(node) {
      const parent = node.parentNode;
      if (!parent) return;
      parent.childNodes.splice(indexOf(parent, node), 1);
      node.parentNode = null;
    },
    // Positions of texts and comments are not used, and parse5 would set them again for each word of a text.
    setNodeSourceCodeLocation(node, location) {
      if (defaultTreeAdapter.isElementNode(node))
        node.sourceCodeLocation = location as Tree['element']['sourceCodeLocation'];
    },
    adoptAttributes(recipient, attrs) {
      work.spend(recipient.attrs.length + attrs.length);
      defaultTreeAdapter.adoptAttributes(recipient, attrs);
      checkAttributes(recipient.attrs.length);
    },
  };
  const textNode = (text: string) => {
    meter.node();
    return defaultTreeAdapter.createTextNode(text);
  };
  /** Searches from the end, because the parser's child is usually one of the last. */
  const indexOf = (parent: Container, child: Child) => {
    const index = parent.childNodes[0] === child ? 0 : parent.childNodes.lastIndexOf(child);
    work.spend(meter.scan + (parent.childNodes.length - index) / 8);
    return index;
  };
  const insertAt = (parent: Container, node: Child, index: number) => {
    parent.childNodes.splice(index, 0, node);
    node.parentNode = parent;
  };
  return adapter;
}

function checkAttributes(count: number): void {
  if (count > markupLimits.attributes) throw tooLarge(`${markupLimits.attributes} attributes in one tag`);
}

/** parse5 compares each attribute with all others of its tag. */
export class CountedTokenizer extends Tokenizer {
  constructor(
    options: ConstructorParameters<typeof Tokenizer>[0],
    handler: ConstructorParameters<typeof Tokenizer>[1],
    private readonly work: Work,
  ) {
    super(options, handler);
  }

  protected override _leaveAttrName(): void {
    const { attrs } = this.currentToken as Token.TagToken;
    checkAttributes(attrs.length + 1);
    this.work.spend(attrs.length / 8);
    super._leaveAttrName();
  }
}

interface Options extends ParserOptions<Tree> {
  meter: Meter;
}

/** A parser that counts its work, and the tags of the text. */
export class BoundedParser extends Parser<Tree> {
  startTags = 0;
  endTags = 0;
  readonly #meter: Meter;

  /** Called by parse5 with the options of `boundedOptions`. */
  constructor(options?: ParserOptions<Tree>, document?: Tree['document'], context?: Tree['element'] | null) {
    super(options, document, context ?? null);
    this.#meter = (options as Options).meter;
    this.tokenizer = new CountedTokenizer(this.options, this, this.#meter.work);
  }

  override onStartTag(token: Token.TagToken): void {
    this.startTags += 1;
    this.#count(token.attrs.length);
    super.onStartTag(token);
  }

  override onEndTag(token: Token.TagToken): void {
    this.endTags += 1;
    this.#count(0);
    super.onEndTag(token);
  }

  override onItemPush(node: Container, tag: number, isTop: boolean): void {
    if (this.openElements.stackTop > markupLimits.depth)
      throw tooLarge(`${markupLimits.depth} elements inside each other`);
    super.onItemPush(node, tag, isTop);
  }

  override onItemPop(node: Container, isTop: boolean): void {
    this.#meter.work.spend(1 + this.#meter.scan);
    super.onItemPop(node, isTop);
  }

  /** Replaces parse5's, which removes the children one by one from the beginning of a list. */
  override _adoptNodes(donor: Container, recipient: Container): void {
    const children = donor.childNodes;
    this.#meter.work.spend(children.length / 2);
    donor.childNodes = [];
    for (const child of children) {
      child.parentNode = recipient;
      recipient.childNodes.push(child);
    }
  }

  /** The parser compares the attributes of a formatting element with those of all unclosed ones. */
  #count(attributes: number): void {
    const unclosed = this.activeFormattingElements.entries.length;
    this.#meter.scan = (this.openElements.stackTop + unclosed) / 8;
    this.#meter.work.spend(1 + this.#meter.scan + (attributes + 1) * unclosed);
  }
}

/** Options for one parse by BoundedParser, which counts as part of `work`; nodes have their positions in the text. */
export function boundedOptions(work: Work, more: ParserOptions<Tree> = {}): ParserOptions<Tree> {
  const meter = new Meter(work);
  const options: Options = { ...more, sourceCodeLocationInfo: true, treeAdapter: countedAdapter(meter), meter };
  return options;
}
