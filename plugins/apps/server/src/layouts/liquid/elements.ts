import { Drop } from 'liquidjs';
import type { Json } from '../../../../shared/json';
import type { Clock } from '../limits';
import type { LayoutData } from '../types';
import type { BraceToken } from './braces';
import { Html, output } from './html';
import { FailedElement } from './layout-errors';

type Element = Awaited<ReturnType<LayoutData['element']>>;

/** A concrete class of Liquid's abstract `Drop`. */
class Names extends Drop {}

/** HTML with values of its keys: `{{ elements.author.title }}`. */
class WithParts extends Html {
  constructor(
    html: string,
    private readonly parts: Json,
  ) {
    super(html);
  }

  liquidMethodMissing(key: string | number): Json | undefined {
    return valueAt(this.parts, [String(key)]) as Json | undefined;
  }
}

/** HTML of a value of which filters and conditions read another text: dates and numbers in the language of the page. */
class WithText extends Html {
  constructor(
    html: string,
    private readonly value: string,
  ) {
    super(html);
  }

  override get text(): string {
    return this.value;
  }
}

/** The elements of one rendering: each is computed once, at its first use. */
export class Elements {
  readonly #requested = new Map<string, Promise<Element>>();
  readonly #reported = new Set<string>();
  readonly #marked = new Set<string>();

  /** @param mark writes the error mark of a failed element at the present place of the output */
  constructor(
    private readonly data: LayoutData,
    private readonly clock: Clock,
    private readonly mark: (html: string) => void,
  ) {}

  /** Liquid's variable `elements`: `{{ elements.name }}` is HTML, or the value of an element that returns an object. */
  get drop(): Drop {
    const read = async (name: string | number): Promise<unknown> => {
      const element = await this.#request(String(name));
      if (!element) return this.#undeclared(String(name));
      if (!('html' in element)) return element.value;
      return this.#isFailed(String(name), element) ? new FailedElement() : htmlOf(element);
    };
    // Liquid reads an object's own members before it calls `liquidMethodMissing`; here every name is an element's.
    return new Proxy(new Names(), {
      get: (_, key) => (key === 'liquidMethodMissing' ? read : undefined),
      has: () => false,
    });
  }

  /** The HTML of a single-brace element. */
  async render(token: BraceToken): Promise<string> {
    for (const name of candidates(token)) {
      const element = await this.#request(name);
      if (!element) continue;
      return this.#isFailed(name, element) ? '' : content(element, keysAfter(name, token));
    }
    // `{3}` is far more often a repetition in a regular expression than an element.
    if (/^\d+$/.test(token.element) && token.keys.length === 0) return token.getText();
    return output(this.#undeclared(token.element));
  }

  #request(name: string): Promise<Element> {
    // Counts as a step, because one brace may request many names.
    this.clock.check(performance.now());
    let element = this.#requested.get(name);
    if (!element) {
      element = this.clock.stoppedDuring(() => this.data.element(name));
      this.#requested.set(name, element);
    }
    return element;
  }

  /** Whether an element has failed; its mark is written when it is named for the first time. */
  #isFailed(name: string, element: NonNullable<Element>): boolean {
    if (!('html' in element) || !element.failed) return false;
    if (!this.#marked.has(name)) this.mark(element.html);
    this.#marked.add(name);
    return true;
  }

  #undeclared(name: string): Html | undefined {
    if (!this.#reported.has(name)) this.data.onUndefined(name);
    this.#reported.add(name);
    return this.data.debug ? new FailedElement(undefinedMark(this.data.locale)) : undefined;
  }
}

/** Shown in debug mode, and marked as English on a page in another language. */
const undefinedMark = (locale: LayoutData['locale']): string =>
  !locale || /^en\b/.test(locale.tag) ? 'UNDEFINED ELEMENT' : '<span lang="en">UNDEFINED ELEMENT</span>';

/**
 * The possible element names of a single brace, the longest first: a `.` may be part of a name or come before a key, so
 * `{a.b.c}` is the element `a.b.c`, else `c` of `a.b`, else `c` of `b` of `a`.
 */
export function candidates({ element, keys }: Pick<BraceToken, 'element' | 'keys'>): string[] {
  if (keys.length > 0) return [element];
  const names: string[] = [];
  // Slices of one text instead of joined parts, so that the cost of a brace of many dots is linear.
  for (let end = element.length; end > 0; end = element.lastIndexOf('.', end - 1)) names.push(element.slice(0, end));
  return names;
}

/** The keys that a single brace names in the value of the element `name`. */
function keysAfter(name: string, { element, keys }: BraceToken): readonly string[] {
  if (keys.length > 0) return keys;
  return element === name ? [] : element.slice(name.length + 1).split('.');
}

function content(element: NonNullable<Element>, keys: readonly string[]): string {
  if (!('html' in element)) return output(valueAt(element.value, keys));
  if (keys.length === 0) return element.html;
  return element.parts === undefined ? '' : output(valueAt(element.parts, keys));
}

/** The value that keys lead to; '' where there is none. */
function valueAt(whole: Json, keys: readonly string[]): unknown {
  let value: unknown = whole;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return '';
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function htmlOf({ html, parts, text }: Extract<NonNullable<Element>, { html: string }>): Html {
  if (text !== undefined) return new WithText(html, text);
  return parts === undefined ? new Html(html) : new WithParts(html, parts);
}
