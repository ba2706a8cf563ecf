import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import MarkdownIt from 'markdown-it';
import sanitizeHtml from 'sanitize-html';
import { WorkerFailure } from '../workers';
import { escapeHtml } from './liquid/html';

/** The HTML of a Markdown text (docs/reference/layouts.md#markdown). */
export type Markdown = (text: string) => Promise<string>;

/** The part of Workers that runs Markdown. */
interface MarkdownWorkers {
  run(
    task: 'markdown',
    input: string,
    options: { time: number; byProcessor: boolean; group: string },
  ): Promise<unknown>;
}

/** Maximum characters of a text; a longer one is shown as it was written. */
export const MAX_MARKDOWN = 100_000;

/** Milliseconds of the processor for one text: the longest useful one takes 50. */
const TIME = 1_000;

/** Milliseconds for which a text that took too long is not tried again. */
const FAILED = 60_000;

/** Characters of all kept renderings. */
const CACHE = 8_000_000;

/**
 * Markdown, rendered by worker processes, because its cost is not bounded (docs/decisions/foreign-text.md), and kept. A text
 * that is too long, or takes too long, is shown as it was written, escaped. ServiceUnavailableError when too many wait.
 */
export function createMarkdown(workers: MarkdownWorkers): Markdown {
  const known = new LRUCache<string, Promise<string>>({ maxSize: CACHE });
  return (text) => {
    if (text.trim() === '') return Promise.resolve('');
    if (text.length > MAX_MARKDOWN) return Promise.resolve(asWritten(text));
    const key = createHash('sha256').update(text).digest('base64');
    const kept = known.get(key);
    if (kept) return kept;
    const rendered = workers
      .run('markdown', text, { time: TIME, byProcessor: true, group: 'markdown' })
      .then((html) => html as string);
    const shown = rendered.catch((error: unknown) => {
      if (!(error instanceof WorkerFailure)) throw error;
      known.set(key, Promise.resolve(asWritten(text)), { ttl: FAILED, size: text.length + 1 });
      return asWritten(text);
    });
    known.set(key, shown, { size: 2 * text.length + 1 });
    shown.catch(() => known.delete(key));
    return shown;
  };
}

function asWritten(text: string): string {
  return `<p>${escapeHtml(text).replace(/\r\n?|\n/g, '<br>')}</p>`;
}

/** Markdown without HTML of its own, and without links that are not marked as such. */
const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false, typographer: false });

const blocks = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'ul', 'ol', 'li', 'blockquote', 'pre', 'hr', 'br'];
const inline = ['em', 'strong', 's', 'code', 'a', 'img'];
const tables = ['table', 'thead', 'tbody', 'tr', 'th', 'td'];

/**
 * What a text may contain (docs/reference/layouts.md#markdown). No ids and names: a script of the page could read them as
 * its own variables.
 */
const allowed: sanitizeHtml.IOptions = {
  allowedTags: [...blocks, ...inline, ...tables],
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'loading'],
    ol: ['start'],
    td: ['style'],
    th: ['style'],
  },
  allowedStyles: { '*': { 'text-align': [/^(?:left|right|center)$/] } },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  transformTags: {
    a: (tagName, attribs) => ({
      tagName,
      attribs: { ...attribs, ...(isOwn(attribs.href) ? {} : { rel: 'nofollow noopener' }) },
    }),
    img: (tagName, attribs) => ({ tagName, attribs: { ...attribs, loading: 'lazy' } }),
  },
};

/** Whether a link leads to the page's own site. */
const isOwn = (href = '') => /^(?:[/#?.]|(?![a-z][a-z0-9+.-]*:))/i.test(href) && !href.startsWith('//');

/** The HTML of a Markdown text. Its time is not bounded: a task of the worker processes. */
export function doMarkdown(text: string): string {
  return sanitizeHtml(markdown.render(text), allowed);
}
