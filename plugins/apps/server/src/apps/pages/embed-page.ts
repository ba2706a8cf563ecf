import { randomBytes } from 'node:crypto';
import { positioned } from '../../../../shared/positions';
import type { FlashMessage } from '../../auth/types';
import { definitionError } from '../../common/errors';
import { html } from '../../layouts';
import type { LayoutData } from '../../layouts/types';
import type { ThemeFile, ThemeFolder } from '../../sites';
import { themeSource } from '../definitions/app';
import { escapeHtml } from '../elements';
import { localeFor } from '../locales';
import { themeContext } from '../run/context-data';
import { consoleHtml, englishMark } from '../run/diagnostics/failures';
import { assetUrls, scriptUrl } from '../run/files';
import type { Visit } from '../run/types';
import type { EmbeddingPage } from './embed';
import { ruled, themeNotice } from './rules';

interface HtmlDocument {
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

/** Template of content items where the theme has none for their type. */
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

/**
 * A content item as the theme shows it: `templates/<type>.html`, `portal.html` at the site's root
 * (docs/reference/site.md#pages).
 */
export async function contentHtml(page: EmbeddingPage, theme: ThemeFolder | null): Promise<string> {
  const { type } = page.visit.content;
  const name = type.slice(type.lastIndexOf('.') + 1);
  const template = theme?.files.get(`templates/${name}.html`) ?? plainTemplate;
  return rendered(page, theme, template, { names: plainFields });
}

/** Title and main content of a page. */
export interface PageContent {
  /** Text, for the document's `<title>`; the layout reads it as `page.title`. */
  title: string;
  /** HTML. */
  main: string;
  /** The address that search engines show; the layout reads it as `page.canonical`. */
  canonical?: string | undefined;
  /** The page shows messages for its visitor, also where the theme has no place for them. */
  hasFlash?: boolean;
  /** The theme's own template of the page, which is shown instead of `main` where the theme has it. */
  template?: { name: 'login' | 'error'; data: Record<string, unknown> };
}

/**
 * A page of the site: `main` in the theme's layout, with the theme's rules applied
 * (docs/reference/embedding.md#theme-rules).
 */
export async function themedPage(
  page: EmbeddingPage,
  theme: ThemeFolder | null,
  content: PageContent,
): Promise<string> {
  const { title, canonical } = content;
  const { flash } = page.visit;
  const place = content.hasFlash && flash && !flash.isEmpty() ? FLASH_MARK : '';
  const main = withFlash(await ownMain(page, theme, content), place);
  const layout = theme?.files.get('layout.html');
  const whole = layout
    ? await rendered(page, theme, layout, { main: html(main), page: { title, canonical } })
    : bareLayout(page.visit, { title, main, canonical }, await scriptUrl(page.services, page.visit.site));
  const shown = await withMessages(whole, place, page);
  const rules = theme?.files.get('rules.yaml');
  return withConsole(page, rules ? await ruled(page, rules, shown) : shown);
}

/** The page with the messages for its visitor, unless the theme's own place has shown them. */
async function withMessages(whole: string, place: string, { visit }: EmbeddingPage): Promise<string> {
  if (place === '' || !whole.includes(place)) return whole;
  const [before = '', ...after] = whole.split(place);
  return `${before}${(await visit.flash?.take()) ?? ''}${after.join('')}`;
}

/** The main content by the theme's own template; a template that fails cannot take the page away. */
async function ownMain(page: EmbeddingPage, theme: ThemeFolder | null, content: PageContent): Promise<string> {
  const { title, main, template } = content;
  const file = template && theme?.files.get(`templates/${template.name}.html`);
  if (!file) return main;
  try {
    return await rendered(page, theme, file, { ...template.data, main: html(main), page: { title } });
  } catch (error) {
    page.report(`The template "${file.path}"`, error);
    return main;
  }
}

/** The page, followed by its console entries for requesters who see details. */
function withConsole({ notes, failures }: EmbeddingPage, whole: string): string {
  return whole + consoleHtml([...failures, ...notes]);
}

/** Maximum blocks that the tag `block` puts into one file of the theme. */
const MAX_TILES = 200;

/** Random placeholder of a block while the text around it is rendered: blocks are rendered concurrently. */
const MARK = `apps-${randomBytes(12).toString('hex')}-`;
const marks = new RegExp(`${MARK}(\\d+);`, 'g');

/** Where the messages for the visitor go, if the theme's layout has no place for them. */
const FLASH_MARK = `apps-${randomBytes(12).toString('hex')}-flash;`;

const noFiles: ThemeFolder['files'] = new Map();

async function rendered(
  page: EmbeddingPage,
  theme: ThemeFolder | null,
  file: ThemeFile,
  variables: LayoutData['variables'],
): Promise<string> {
  if (file.problem) throw definitionError(file.problem, { file: file.path });
  const tiles: Promise<string>[] = [];
  const themeFiles = theme?.files ?? noFiles;
  const locale = await localeFor(page.visit.site, themeFiles);
  const text = await page.services.layouts.compile(themeSource(file, themeFiles)).render({
    // The theme's own files have no elements: a single brace is text.
    element: async (name) => ({ html: `{${name}}` }),
    context: themeContext(page.visit),
    variables,
    async block(reference) {
      if (tiles.length >= MAX_TILES) throw definitionError(`A page has at most ${MAX_TILES} blocks`);
      return `${MARK}${tiles.push(page.tile(reference)) - 1};`;
    },
    flash: async () => (await page.visit.flash?.take()) ?? '',
    debug: false,
    onClock: (until) => page.visit.inputs?.readClock(until),
    onRandom: () => page.visit.inputs?.refuse('random'),
    onUndefined: () => undefined,
    locale,
    assetUrl: assetUrls(page.services, page.visit.site, { theme: theme?.id ?? page.visit.site.theme }),
    onUnknownMessage(key) {
      const message = `there is no message "${key}" in the catalogues of the theme`;
      themeNotice(page, message, message);
    },
    onUnknown(name, { path, line }) {
      const message = positioned(`there is no variable "${name}"`, { file: path, line });
      themeNotice(page, `${message} ${file.text.length}`, message);
      return page.explains ? englishMark(locale, message) : '';
    },
  });
  if (tiles.length === 0) return text;
  return withTiles(text, await Promise.all(tiles));
}

/** Maximum characters of a page with all of its blocks, which a layout may repeat. */
const MAX_PAGE = 20_000_000;

function withTiles(text: string, tiles: readonly string[]): string {
  let { length } = text;
  return text.replace(marks, (_, index) => {
    const tile = tiles[Number(index)] ?? '';
    length += tile.length;
    if (length > MAX_PAGE) throw definitionError(`A page has at most ${MAX_PAGE} characters`);
    return tile;
  });
}

/** The page of a theme without a layout. */
function bareLayout({ site }: Visit, { title, main, canonical }: PageContent, script: string): string {
  return htmlDocument({ title, lang: site.locale, canonical, head: scriptTag(script), body: `<main>${main}</main>` });
}
