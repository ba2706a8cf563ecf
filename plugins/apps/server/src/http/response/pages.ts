import type { Context } from 'koa';
import {
  canonicalLink,
  consoleHtml,
  embeddingPage,
  escapeHtml,
  type Flash,
  flashHtml,
  formTokens,
  htmlDocument,
  makeVisit,
  otherLanguage,
  type PageContent,
  type PageLocale,
  plainLocale,
  type ServiceMessage,
  scriptTag,
  scriptUrl,
  siteLocale,
  themedPage,
  type Visit,
  withFlash,
} from '../../apps';
import type { Requester } from '../../auth/types';
import { lazily } from '../../common/collections';
import { type AppsError, errorText, isAppsError } from '../../common/errors';
import { orNull } from '../../common/time/awaitable';
import { pageTags } from '../../layouts';
import type { LogEntry, LogicBudget } from '../../logic/types';
import type { Site } from '../../sites/types';
import { type Exchange, type HttpServices, requestData } from '../request/exchange';
import { addressOf } from '../request/locate';
import { isFollowed } from '../request/negotiate';

/** A complete, small HTML document around `main`; `script` is the address of the plugin's browser script. */
export function bareDocument(page: PageContent & { script?: string; lang?: string | null }): string {
  const script = page.script ? `\n${scriptTag(page.script)}` : '';
  const { title, lang, canonical, main } = page;
  return htmlDocument({
    title,
    lang,
    canonical,
    head: `<style>${style}</style>${script}`,
    body: `<main>\n${main}\n</main>`,
  });
}

const style = `body{font:1rem/1.5 system-ui,sans-serif;margin:0;color:#1c1c28;background:#fff}
main{max-width:44rem;margin:2rem auto;padding:0 1rem}
.apps-field{display:block;margin:0 0 1rem;border:0;padding:0}
.apps-field>label,.apps-field>legend{display:block;font-weight:600;padding:0}
.apps-field>input[type=checkbox]+label{display:inline;font-weight:400}
.apps-choice{display:block}
.apps-help,.apps-field .apps-error{display:block}
textarea{width:100%;min-height:6rem}
input:not([type=checkbox],[type=radio]),select,textarea{font:inherit;padding:.4rem;border:1px solid #666;border-radius:4px;max-width:100%;box-sizing:border-box}
button{font:inherit;padding:.4rem .9rem;border:1px solid #3730a3;border-radius:4px;background:#4338ca;color:#fff;cursor:pointer}
button:is([name=_withdraw],[name=_revoke]){background:none;color:inherit}
:focus-visible{outline:3px solid #f59e0b;outline-offset:2px}
[role=alert]{color:#b00020}
dt{font-weight:600}dd{margin:0 0 .75rem;white-space:pre-wrap;overflow-wrap:anywhere}
.apps-flash{border:1px solid #3730a3;border-radius:4px;padding:0 1rem;margin:0 0 1rem}
pre{overflow:auto}
@media (prefers-color-scheme:dark){body{color:#eee;background:#16161d}a{color:#a5b4fc}[role=alert]{color:#ff8a9a}input:not([type=checkbox],[type=radio]),select,textarea{background:#22222c;color:#eee;border-color:#999}}`;

interface ErrorPage {
  status: number;
  name: string;
  /** In the language of the page. */
  title: string;
  message: string;
  /** The message for those who make the site, in English, where `message` is not the same. */
  english?: string | undefined;
  locale: PageLocale;
  /** The line of the error's position. */
  excerpt?: string | null;
  details: object;
  loginUrl?: string | undefined;
  /** The request's id, by which its lines of the log are found. */
  requestId?: string | undefined;
  /** Console entries, which the browser script shows. */
  log?: LogEntry[];
  /** HTML of a form that sends again what was posted. */
  again?: string;
}

/** The content of an error page. Details are shown if the caller gives any. */
export function errorContent(page: ErrorPage): PageContent {
  const {
    status,
    name,
    title,
    message,
    english,
    locale,
    excerpt,
    details,
    loginUrl,
    requestId,
    log = [],
    again = '',
  } = page;
  const quoted = excerpt ? `<pre>${escapeHtml(excerpt)}</pre>` : '';
  const isEnglish = locale.language === 'en';
  const hasMore = Object.keys(details).length > 0 && (isEnglish || english !== undefined);
  const more = hasMore
    ? `<pre${isEnglish ? '' : ' lang="en"'}>${escapeHtml(JSON.stringify(details, null, 2))}</pre>`
    : '';
  const login =
    status === 401 && loginUrl ? `<p><a href="${escapeHtml(loginUrl)}">${escapeHtml(locale.say('login'))}</a></p>` : '';
  const reason = english === undefined ? '' : `<p lang="en">${escapeHtml(english)}</p>`;
  const number = escapeHtml(locale.say('error_number', { status }));
  const id = requestId === undefined ? '' : ` <code>${escapeHtml(requestId)}</code>`;
  const main = `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(message)}</p>${reason}${quoted}${more}${login}${again}\n<p><small data-error="${escapeHtml(name)}">${number}${id}</small></p>`;
  const data = { status, name, title, message, login_url: login && loginUrl, request_id: requestId ?? null };
  return { title, main: main + consoleHtml(log), template: { name: 'error', data: { error: data } } };
}

/** What a visitor sees after saving a record that they may not read. @param messages HTML of what is said instead */
export const thanks = ({ say }: PageLocale, messages: string): string =>
  `<h1>${escapeHtml(say('thanks'))}</h1>\n${messages || `<p role="status">${escapeHtml(say('thanks_saved'))}</p>`}`;

/**
 * The page of a record without a block: its items as a list (docs/reference/layouts.md#pages-of-blocks-and-records).
 */
export function itemList({ say }: PageLocale, id: string, items: Record<string, unknown>): string {
  const rows = Object.entries(items).map(
    ([name, value]) =>
      `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value))}</dd>`,
  );
  const list = rows.length > 0 ? `<dl>\n${rows.join('\n')}\n</dl>` : `<p>${escapeHtml(say('no_items'))}</p>`;
  return `<h1>${escapeHtml(id)}</h1>\n${list}`;
}

/** Statuses that have a title and a sentence of their own. */
const known = new Set([400, 401, 403, 404, 409, 422, 500, 503, 504]);

/**
 * The language of an error that is answered before an address is handled: that of the site of the address, or, where it is wrong, of the
 * one that the path begins with.
 */
export async function localeOfPath({ sites }: Pick<HttpServices, 'sites'>, ctx: Context): Promise<PageLocale> {
  const site = await orNull(() => sites.site(addressOf(ctx)?.site ?? ctx.path.split('/', 2)[1] ?? ''));
  return plainLocale(site ?? { locale: 'en', timeZone: null });
}

export const errorTitle = ({ say }: PageLocale, status: number): string =>
  say(known.has(status) ? (`title_${status}` as ServiceMessage) : 'title_other');

/**
 * What a visitor reads of an error: its own message in English, in other languages a sentence about its status, because messages
 * of errors are in English only.
 */
export function visitorText(
  locale: PageLocale,
  { status, name }: Pick<AppsError, 'status' | 'name'>,
  message: string,
): string {
  if (locale.language === 'en') return message;
  if (name === 'OutcomeUnknownError') return locale.say('error_unknown');
  const hasSentence = known.has(status) || status === 413 || status === 429;
  return locale.say(hasSentence ? (`error_${status}` as ServiceMessage) : 'error_other');
}

/** The same for an error that a form shows beside its fields. */
export const problemText = (locale: PageLocale, error: AppsError): string => visitorText(locale, error, error.message);

/** Marks content whose language is not the site's, which the theme's layout names. */
export function inLanguage(locale: PageLocale, site: Site, content: string): string {
  const lang = otherLanguage(locale, site);
  return lang === '' ? content : `<div${lang}>\n${content}\n</div>`;
}

/**
 * The messages that a request shows or keeps for the next one (docs/reference/logic.md#messages-for-the-visitor): those of
 * the visitor's cookie, and those of its own logic.
 */
export function flashOf(ctx: Context, services: HttpServices, site: Site): Flash {
  const { requesters } = services;
  const { flashes } = requesters;
  const at = { id: site.id, path: new URL(site.url).pathname };
  const secure = ctx.secure || site.url.startsWith('https:');
  const set = (messages: Parameters<typeof flashes.header>[1]) =>
    ctx.append('Set-Cookie', flashes.header(at, messages, secure));
  // A browser that prefetches a page shows nothing, nor does the script that loads it as a whole afterwards; HEAD has no page.
  const shows =
    ctx.method !== 'HEAD' && !/prefetch/.test(`${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')}`) && !isFollowed(ctx);
  const kept = shows && requesters.takesCookies(ctx) ? flashes.read(site.id, ctx.cookies.get(flashes.cookie)) : [];
  const messages = [...kept];
  let isTaken = false;
  return {
    isTaken: () => isTaken,
    isEmpty: () => isTaken || messages.length === 0,
    add(more) {
      messages.push(...more);
    },
    async take() {
      if (isTaken || messages.length === 0) return '';
      isTaken = true;
      if (kept.length > 0) set([]);
      return flashHtml(messages, (await siteLocale(services, site)).say('go_on'));
    },
    keep() {
      if (messages.length > kept.length || isTaken) set(messages);
    },
  };
}

/**
 * Whether a page of an app is shown in the theme's layout: the block's definition overrides the app's settings, and its
 * `view` key overrides both, also for the block's records (docs/reference/site.md#apps-in-the-theme).
 */
export function isShownInTheme({ app, visit, target }: Exchange, blockId?: string): boolean {
  const { view = null, withTheme = null } = app.blocks.get(blockId ?? '')?.definition ?? {};
  const ofView = visit.view !== undefined || target.kind === 'record' ? view?.withTheme : null;
  return ofView ?? withTheme ?? app.settings.withTheme;
}

/** A page of an app in the theme. @param done what its own logic has left of the budget */
export async function inTheme(exchange: Exchange, page: PageContent, done?: { budget?: LogicBudget }): Promise<string> {
  const { ctx, services, visit, site } = exchange;
  try {
    return await themedDocument(services, visit, page, done?.budget);
  } catch (error) {
    // The form has been processed: the visitor must see its result.
    if (!visit.writes.content && !visit.writes.records) throw error;
    const main = withFlash(page.main, (await visit.flash?.take()) ?? '');
    return withoutTheme(ctx, services, site, { ...page, main }, error);
  }
}

/**
 * The document of a page that is no content of the site's own, in the theme's layout. Blocks that the theme puts into it
 * can write nothing, and see nothing of what was posted. Rejects when the theme is broken.
 * @param budget what the page's own logic has left
 */
async function themedDocument(
  services: HttpServices,
  visit: Visit,
  content: PageContent,
  budget?: LogicBudget,
): Promise<string> {
  const page = embeddingPage(services, visit.readOnly(), budget);
  const document = await themedPage(page, await services.sites.theme(visit.site), content);
  return completed(services, document, content.canonical, visit.site);
}

/** Adds what the theme's layout lacks: the canonical address at the end of the head, the browser script. */
async function completed(
  services: HttpServices,
  document: string,
  canonical: string | undefined,
  site: Site,
): Promise<string> {
  const { hasScript, hasCanonical, headEnd } = await pageTags(document, '/@@apps.js');
  const lacksAddress = canonical !== undefined && !hasCanonical && headEnd >= 0;
  const head = lacksAddress ? `${document.slice(0, headEnd)}${canonicalLink(canonical)}\n` : '';
  const page = lacksAddress ? head + document.slice(headEnd) : document;
  return hasScript ? page : `${page}${scriptTag(await scriptUrl(services, site))}\n`;
}

/**
 * A page of the site itself (a login, an error) in the site's theme; bare if the theme is broken.
 * @param requester undefined if not known: the page is then the one for anonymous
 */
export async function sitePage(
  ctx: Context,
  services: HttpServices,
  site: Site,
  requester: Requester | undefined,
  page: PageContent,
): Promise<string> {
  try {
    const visit = await rootVisit(ctx, services, site, requester ?? (await services.requesters.anonymous()));
    return await themedDocument(services, visit, page);
  } catch (error) {
    return withoutTheme(ctx, services, site, page, error);
  }
}

async function withoutTheme(
  ctx: Context,
  services: HttpServices,
  site: Site,
  page: PageContent,
  error: unknown,
): Promise<string> {
  const reason = isAppsError(error) ? errorText(error) : (error as Error).message;
  services.logger.error(`[apps] the theme "${site.theme}" cannot show ${ctx.path}: ${reason}`);
  return bareDocument({ ...page, script: await scriptUrl(services, site), lang: site.locale });
}

/** A visit of the site's root that can write nothing, for a request whose rights are not known. */
async function rootVisit(ctx: Context, services: HttpServices, site: Site, requester: Requester): Promise<Visit> {
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw new Error('the site has no root');
  return makeVisit({
    origin: { kind: 'request', through: 'form' },
    site,
    content,
    contentPath: '',
    requester,
    // Without the query, which may hold a token of the login.
    readRequest: lazily(() => ({
      ...requestData(ctx, services.baseUrl()),
      url: services.baseUrl() + ctx.path,
      query: {},
    })),
    writes: { records: false, content: false },
    tokens: formTokens(services.requesters, requester),
  });
}
