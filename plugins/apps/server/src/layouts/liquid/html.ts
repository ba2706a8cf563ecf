import { type Context, Drop, type Liquid } from 'liquidjs';
import { type MemoryLimiter, sizeOf } from '../limits';

/** By the codes of their characters. */
const entities: readonly (string | undefined)[] = Object.assign(new Array(128).fill(undefined), {
  34: '&quot;',
  38: '&amp;',
  39: '&#39;',
  60: '&lt;',
  62: '&gt;',
});

/** HTML that `{{ value }}` does not escape; in conditions and filters it is its text. */
export class Html extends Drop {
  readonly #html: string;

  constructor(html: string) {
    super();
    this.#html = html;
  }

  /** What `{{ value }}` writes. */
  get html(): string {
    return this.#html;
  }

  /** What filters, conditions and `raw` read. */
  get text(): string {
    return this.html;
  }

  valueOf(): string | false {
    return this.text;
  }

  /** For lists that are joined, and values of messages. */
  override toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }
}

/** Marks a text as HTML, for `LayoutData.variables`. */
export function html(text: string): Html {
  return new Html(text);
}

/** Liquid's limiters of one rendering; without them `capture` would grow without bounds. */
interface Rendered {
  context: { memoryLimit: object; renderLimit: { check(now: number): void }; emptyOutput?(): string };
}

/** Maximum characters and entries of a list or object that a page shows as JSON. */
export const MAX_JSON = 2_000_000;

/** Characters that are escaped in one step. */
const SLICE = 200_000;

/** The filter behind every `{{ value }}` that does not end in `| raw`. */
export function escaping(this: Rendered, value: unknown): string | Generator<unknown, string> {
  if (value === undefined || value === null) return this.context.emptyOutput?.() ?? '';
  // Counted before it is escaped, because escaping takes time and memory.
  if (value instanceof Html) return counted(this, value.html);
  const text = counted(this, value);
  return text.length > SLICE ? escapedBySlices(this, text) : escapeHtml(text);
}

/** The filter `raw`: the value without escaping. */
export function raw(this: Rendered, value: unknown): string {
  return counted(this, value);
}

function counted({ context }: Rendered, value: unknown): string {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Drop);
  if (isJson && sizeOf(value, MAX_JSON) > MAX_JSON) {
    throw new Error(`A list or object that a page shows may use the memory of ${MAX_JSON} characters and entries`);
  }
  const text = plainText(value);
  (context.memoryLimit as MemoryLimiter).write(text.length);
  return text;
}

/** Updates the clock and yields to the server between slices. */
function* escapedBySlices({ context }: Rendered, text: string): Generator<unknown, string> {
  const slices: string[] = [];
  for (let from = 0; from < text.length; from += SLICE) {
    context.renderLimit.check(performance.now());
    slices.push(escapeHtml(text.slice(from, from + SLICE)));
    yield;
  }
  return slices.join('');
}

/** A value as HTML: HTML unchanged, anything else as escaped text; objects as JSON. */
export function output(value: unknown): string {
  return value instanceof Html ? value.html : escapeHtml(plainText(value));
}

/** A value as text: '' for null, JSON for objects. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') {
    // Of Liquid's own objects (a loop's state, `elements` itself) only Html has a text.
    if (value instanceof Drop) return value instanceof Html ? value.text : '';
    return JSON.stringify(value) ?? '';
  }
  return String(value);
}

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  // Most texts need no change; others are escaped in a quarter of the time of a regular expression with a function.
  const first = text.search(/[&<>"']/);
  if (first < 0) return text;
  let escaped = '';
  let from = 0;
  for (let at = first; at < text.length; at += 1) {
    const entity = entities[text.charCodeAt(at)];
    if (entity === undefined) continue;
    escaped += text.slice(from, at) + entity;
    from = at + 1;
  }
  return escaped + text.slice(from);
}

/** The filter `markdown`: a text as HTML. The worker's time is not the layout's. */
export function markdownFilter(markdown: (text: string) => Promise<string>) {
  return async function (this: { context: object }, value: unknown): Promise<Html> {
    const { renderLimit } = this.context as { renderLimit: { stoppedDuring<T>(work: () => Promise<T>): Promise<T> } };
    return html(await renderLimit.stoppedDuring(() => markdown(plainText(value))));
  };
}

/** What stays HTML in a text when it is shown, though everything else is escaped. */
interface Kept {
  /** References such as `&amp;`: the text was escaped before. */
  entities: boolean;
  /** Tags `<br>` without attributes: `newline_to_br` made them. */
  breaks: boolean;
}

/** An `&` that begins no character reference. No part is read twice, so that it takes linear time. */
const LONE_AMPERSAND = /&(?!(?:[a-z][a-z\d]{0,31}|#\d{1,7}|#x[\da-f]{1,6});)/gi;

const references: Record<string, string> = { '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text, and leaves the character references in it unchanged. */
function escapeOnce(text: string): string {
  return text.replace(LONE_AMPERSAND, '&amp;').replace(/[<>"']/g, (char) => references[char] ?? char);
}

const BREAK = /<br ?\/?>/i;

/** The HTML of a text: no tag comes out of it but `<br />`, and no quote. */
function shown(text: string, kept: Kept): string {
  const asHtml = kept.entities ? escapeOnce : escapeHtml;
  return kept.breaks ? text.split(BREAK).map(asHtml).join('<br />') : asHtml(text);
}

/**
 * A text that filters have made of HTML, or for HTML: they read it as the text that other implementations of Liquid have, and
 * `{{ }}` escapes once what was escaped already (docs/decisions/escaping.md).
 */
class Written extends Html {
  readonly #shown: (() => string) | undefined;

  /** @param show its HTML, where it is not that of `shown` */
  constructor(
    private readonly written: string,
    readonly kept: Kept,
    show?: () => string,
  ) {
    super('');
    this.#shown = show;
  }

  override get html(): string {
    return this.#shown?.() ?? shown(this.written, this.kept);
  }

  override get text(): string {
    return this.written;
  }

  /** For the filter and the property `size`. */
  get length(): number {
    return this.written.length;
  }

  get size(): number {
    return this.written.length;
  }
}

/** The text as a value of Liquid: a plain one where that is shown in the same way. */
function written(text: string, kept: Kept): string | Written {
  return (kept.entities && text.includes('&')) || (kept.breaks && text.includes('<')) ? new Written(text, kept) : text;
}

/** The text that a `{% capture %}` has collected: what it was put together of is escaped, its own tags are not shown. */
export const captured = (text: string): string | Written => written(text, { entities: true, breaks: true });

/** What values have kept that are HTML, or lists with HTML; null for plain ones. */
function keptOf(values: readonly unknown[]): Kept | null {
  const found = values
    .flatMap((value) => (Array.isArray(value) ? value.filter((entry) => entry instanceof Html) : [value]))
    .filter((value) => value instanceof Html)
    .map((value) => (value instanceof Written ? value.kept : { entities: true, breaks: false }));
  if (found.length === 0) return null;
  return { entities: found.some(({ entities }) => entities), breaks: found.some(({ breaks }) => breaks) };
}

/**
 * The result of a filter: a text, or the entries of a list, keep what the filter's value and arguments have kept. The filter
 * `default` returns HTML as HTML.
 */
export function derived(name: string, result: unknown, values: readonly unknown[]): unknown {
  if (name === 'default') return values.find((value) => value instanceof Html && value.text === result) ?? result;
  if (typeof result !== 'string' && !Array.isArray(result)) return result;
  const kept = keptOf(values);
  if (!kept) return result;
  if (typeof result === 'string') return written(result, kept);
  return result.map((entry) => (typeof entry === 'string' ? written(entry, kept) : entry));
}

/** `this` of Liquid's filters. */
interface FilterThis {
  context: Context;
}

type Handler = (this: FilterThis, ...values: unknown[]) => string;

/**
 * Replaces Liquid's filters that make HTML of a text. What they return is escaped when it is shown, and not twice:
 * `{{ text | escape }}` and `{{ text | newline_to_br }}` are safe and need no `raw`.
 */
export function registerHtmlFilters(liquid: Liquid): void {
  const own = { ...liquid.filters } as Record<string, Handler>;
  const textOf = (self: FilterThis, value: unknown): string => (own.append as Handler).call(self, value, '');
  const escaped = (text: string) => written(text, { entities: true, breaks: false });
  const filters: Record<string, (this: FilterThis, value: unknown) => unknown> = {
    escape(value) {
      return escaped((own.escape as Handler).call(this, value));
    },
    xml_escape(value) {
      return escaped((own.xml_escape as Handler).call(this, value));
    },
    escape_once(value) {
      return escaped(escapeOnce(textOf(this, value)));
    },
    newline_to_br(value) {
      const text = textOf(this, value);
      const kept = keptOf([value]) ?? { entities: false, breaks: false };
      const show = () => shown(text, kept).replace(/\r?\n/g, '<br />\n');
      return new Written((own.newline_to_br as Handler).call(this, value), { ...kept, breaks: true }, show);
    },
  };
  for (const [name, filter] of Object.entries(filters)) liquid.registerFilter(name, filter as never);
}
