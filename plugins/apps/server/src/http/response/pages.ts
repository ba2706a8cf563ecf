import type { Context } from 'koa';
import {
  consoleHtml,
  escapeHtml,
  type Flash,
  flashHtml,
  htmlDocument,
  otherLanguage,
  type PageContent,
  type PageLocale,
  plainLocale,
  type ServiceMessage,
  scriptTag,
  siteLocale,
} from '../../apps';
import type { AppsError } from '../../common/errors';
import { orNull } from '../../common/time/awaitable';
import type { LogEntry } from '../../logic/types';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';
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
    get isTaken() {
      return isTaken;
    },
    get isEmpty() {
      return isTaken || messages.length === 0;
    },
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
