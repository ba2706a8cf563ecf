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
