import MarkdownIt from 'markdown-it';
import sanitizeHtml from 'sanitize-html';

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
