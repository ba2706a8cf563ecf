import { Drop } from 'liquidjs';
import type { MemoryLimiter } from '../limits';
import { sizeOf } from '../limits';

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
