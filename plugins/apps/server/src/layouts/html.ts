import { Drop } from 'liquidjs';

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

/** Liquid's count of the characters that one rendering holds; `capture` would otherwise grow without bounds. */
interface Counting {
  context: { memoryLimit: { use(count: number): void } };
}

/** The filter behind every `{{ value }}` that does not end in `| raw`. */
export function escaping(this: Counting, value: unknown): string {
  // Counted before it is escaped, for that already takes time and room.
  counted(this, plainText(value));
  return output(value);
}

/** The filter `raw`: HTML, and text taken for HTML, as it is. */
export function raw(this: Counting, value: unknown): string {
  return counted(this, plainText(value));
}

function counted({ context }: Counting, text: string): string {
  context.memoryLimit.use(text.length);
  return text;
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
