import { randomBytes } from 'node:crypto';
import { AppsError } from '../errors';
import { escapeHtml, html } from '../layouts';
import type { LayoutData } from '../layouts/types';
import type { ThemeFile, ThemeFolder } from '../sites';
import { portalData } from './context-data';
import type { EmbeddingPage } from './embed';
import { ruled, themeNotice } from './embed-rules';
import { consoleHtml } from './notices';
import type { Visit } from './run';

/** How a content item is shown where the theme has no template for its type. */
const plainTemplate: ThemeFile = {
  path: 'templates',
  text: `<article>
<h1>{{ context.content.title }}</h1>
{% for name in names %}{% assign value = context.content.fields[name] %}{% if value %}<p>{{ value }}</p>
{% endif %}{% endfor %}{% for tile in context.content.fields.tiles %}{% block tile.block %}
{% endfor %}</article>`,
};

/** Fields that the plain template shows. */
const plainFields = ['summary', 'description', 'body', 'content', 'text'];

/** A content item as the theme shows it: `templates/<type>.html`, `portal.html` at the site's root (contract, section 2). */
export async function contentHtml(page: EmbeddingPage, theme: ThemeFolder | null): Promise<string> {
  const { type } = page.visit.content;
  const name = type.slice(type.lastIndexOf('.') + 1);
  const template = theme?.files.get(`templates/${name}.html`) ?? plainTemplate;
  return rendered(page, template, { names: plainFields });
}

/** What a page shows. */
export interface PageContent {
  /** Text, for the document's `<title>`; the layout reads it as `page.title`. */
  title: string;
  /** HTML. */
  main: string;
}

/** A page of the site: `main` in the theme's layout, with the theme's rules applied (contract, sections 10 and 11). */
export async function themedPage(
  page: EmbeddingPage,
  theme: ThemeFolder | null,
  { title, main }: PageContent,
): Promise<string> {
  const layout = theme?.files.get('layout.html');
  const whole = layout
    ? await rendered(page, layout, { main: html(main), page: { title } })
    : bareLayout(page.visit, { title, main });
  const rules = theme?.files.get('rules.yaml');
  return withConsole(page, rules ? await ruled(page, rules, whole) : whole);
}

/** The page, followed by its console entries for requesters who see details. */
function withConsole({ notes, failures }: EmbeddingPage, whole: string): string {
  return whole + consoleHtml([...failures, ...notes]);
}

/** Blocks that the tag `block` may put into one file of the theme. */
const MAX_TILES = 200;

/** Stands for a block while the text around it is rendered: blocks are made side by side. Nobody can guess it. */
const MARK = `apps-${randomBytes(12).toString('hex')}-`;
const marks = new RegExp(`${MARK}(\\d+);`, 'g');

async function rendered(page: EmbeddingPage, file: ThemeFile, variables: LayoutData['variables']): Promise<string> {
  if (file.problem) throw new AppsError('DefinitionError', file.problem, { position: { file: file.path } });
  const tiles: Promise<string>[] = [];
  const text = await page.services.layouts.compile(file).render({
    // The theme's own files have no elements: a single brace is text.
    element: async (name) => ({ html: `{${name}}` }),
    context: pageContext(page.visit),
    variables,
    async block(reference) {
      if (tiles.length >= MAX_TILES) throw new AppsError('DefinitionError', `A page has at most ${MAX_TILES} blocks`);
      return `${MARK}${tiles.push(page.tile(reference)) - 1};`;
    },
    debug: false,
    onUndefined: () => undefined,
    onUnknown(name, line) {
      const message = `${file.path}:${line}: there is no variable "${name}"`;
      themeNotice(page, `${message} ${file.text.length}`, message);
      return page.explains ? `<span class="apps-error" role="alert">${escapeHtml(message)}</span>` : '';
    },
  });
  if (tiles.length === 0) return text;
  return withTiles(text, await Promise.all(tiles));
}

/** Characters of a page with all of its blocks, which a layout may repeat. */
const MAX_PAGE = 20_000_000;

function withTiles(text: string, tiles: readonly string[]): string {
  let { length } = text;
  return text.replace(marks, (_, index) => {
    const tile = tiles[Number(index)] ?? '';
    length += tile.length;
    if (length > MAX_PAGE) throw new AppsError('DefinitionError', `A page has at most ${MAX_PAGE} characters`);
    return tile;
  });
}

/** What the theme's Liquid sees as `context`: plain data only. */
function pageContext(visit: Visit): LayoutData['context'] {
  const { site, content, request, requester } = visit;
  const context = {
    request,
    portal: portalData(site),
    content: { ...content.fields, ...content, fields: content.fields },
    user: requester.profile,
  };
  // For a form of the theme's own. Made when it is read: no cache keeps a page with a token.
  Object.defineProperty(context, 'csrf_token', { get: () => visit.csrfToken() });
  return context;
}

/** The page of a theme without a layout. */
function bareLayout({ site }: Visit, { title, main }: PageContent): string {
  return `<!doctype html>
<html lang="${escapeHtml(site.locale ?? 'en')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<script src="${escapeHtml(site.url)}/@@apps.js" defer></script>
</head>
<body>
<main>${main}</main>
</body>
</html>
`;
}
