import { Drop } from 'liquidjs';
import type { Memory } from './limits';
import { sizeOf } from './sizes';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** HTML that goes into a page as it is: `{{ value }}` does not escape it; in conditions and filters it is its text. */
export class Html extends Drop {
  constructor(readonly html: string) {
    super();
  }

  valueOf(): string {
    return this.html;
  }
}

/** Marks HTML as finished, for `LayoutData.variables`. */
export function html(text: string): Html {
  return new Html(text);
}

/** Liquid's counts and clock for one rendering; `capture` would otherwise grow without bounds. */
interface Rendered {
  context: { memoryLimit: object; renderLimit: { check(now: number): void }; emptyOutput?(): string };
}

/** Characters and entries of a list or object that a page shows as JSON, at most. */
const MAX_JSON = 2_000_000;

/** Characters that are escaped in one step. */
const SLICE = 200_000;

/** The filter behind every `{{ value }}` that does not end in `| raw`. */
export function escaping(this: Rendered, value: unknown): string | Generator<unknown, string> {
  if (value === undefined || value === null) return this.context.emptyOutput?.() ?? '';
  // Counted before it is escaped, for that already takes time and room.
  const text = counted(this, value);
  if (value instanceof Html) return text;
  return text.length > SLICE ? escapedBySlices(this, text) : escapeHtml(text);
}

/** The filter `raw`: HTML, and text taken for HTML, as it is. */
export function raw(this: Rendered, value: unknown): string {
  return counted(this, value);
}

function counted({ context }: Rendered, value: unknown): string {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Drop);
  if (isJson && sizeOf(value, MAX_JSON) > MAX_JSON) {
    throw new Error(`A list or object that a page shows may use the memory of ${MAX_JSON} characters and entries`);
  }
  const text = plainText(value);
  (context.memoryLimit as Memory).write(text.length);
  return text;
}

/** Lets the clock tick, and the server do other things, between slices. */
function* escapedBySlices({ context }: Rendered, text: string): Generator<unknown, string> {
  const slices: string[] = [];
  for (let from = 0; from < text.length; from += SLICE) {
    context.renderLimit.check(performance.now());
    slices.push(escapeHtml(text.slice(from, from + SLICE)));
    yield;
  }
  return slices.join('');
}

/** What a page shows for a value: HTML as it is, everything else as escaped text; objects as JSON. */
export function output(value: unknown): string {
  return value instanceof Html ? value.html : escapeHtml(plainText(value));
}

/** A value as text: nothing for null, JSON for objects. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') {
    // Liquid's own objects (a loop's state, `elements` itself) have text only if they say so.
    if (value instanceof Drop) return value instanceof Html ? value.html : '';
    return JSON.stringify(value) ?? '';
  }
  return String(value);
}

/** Text made safe for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] as string);
}
