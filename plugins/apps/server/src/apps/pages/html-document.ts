import type { FlashMessage } from '../../auth/types';
import { escapeHtml } from '../elements';

export interface HtmlDocument {
  /** Text. */
  title: string;
  /** A language tag; English without one. */
  lang?: string | null;
  /** The address that search engines show. */
  canonical?: string | undefined;
  /** HTML after the title. */
  head: string;
  body: string;
}

/** A complete HTML document. */
export function htmlDocument({ title, lang, canonical, head, body }: HtmlDocument): string {
  return `<!doctype html>
<html lang="${escapeHtml(lang ?? 'en')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${canonical === undefined ? '' : `${canonicalLink(canonical)}\n`}${head}
</head>
<body>
${body}
</body>
</html>
`;
}

export const canonicalLink = (url: string): string => `<link rel="canonical" href="${escapeHtml(url)}">`;

export const scriptTag = (url: string): string => `<script src="${escapeHtml(url)}" defer></script>`;

/**
 * The HTML of messages for the visitor (docs/reference/site.md#messages-for-the-visitor).
 * @param onward text of a link that leads on
 */
export function flashHtml(messages: readonly FlashMessage[], onward: string): string {
  const link = ({ to, label = onward }: FlashMessage) =>
    to === undefined ? '' : ` <a href="${escapeHtml(to)}">${escapeHtml(label)}</a>`;
  const texts = messages.map((message) => `<p>${escapeHtml(message.text)}${link(message)}</p>`);
  return `<div class="apps-flash" role="status">${texts.join('')}</div>`;
}

/** The main content of a page with messages: at the begin of its form, which the browser script replaces as a whole. */
export function withFlash(main: string, html: string): string {
  if (html === '') return main;
  const [form = ''] = /^<form [^>]*>/.exec(main) ?? [];
  return `${form}${html}${main.slice(form.length)}`;
}
