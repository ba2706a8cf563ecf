import { AppsError } from '../../common/errors';
import type { ResponseChanges } from '../../logic/types';
import type { DigestText, MailLink } from '../../mail/types';
import { hostOf } from '../../outbound';
import type { AppKey } from '../../records/types';
import { localeFor } from '../locales';
import { digestText } from '../mail';
import type { AppServices, Run } from './types';

/** Response headers that logic may set, in lower case (docs/reference/logic.md#contextrequestresponse). */
const settableHeaders = new Set([
  'cache-control',
  'content-disposition',
  'content-language',
  'expires',
  'last-modified',
  'link',
  'retry-after',
  'vary',
  'x-robots-tag',
]);

/**
 * Media types that the answer of an element may have. None is a page of the site to a browser: HTML, scripts and images
 * that hold scripts are left out, and XML is sent with a policy that lets nothing in it run (docs/decisions/element-types.md).
 */
export const answerTypes = [
  'text/csv',
  'text/plain',
  'text/calendar',
  'text/xml',
  'application/xml',
  'application/json',
];

/** Names of headers (RFC 9110, section 12.5.5). */
const VARY = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/** Limits of headers that logic sets, and of a redirect's address: browsers and proxies refuse larger answers. */
const MAX_HEADERS = 50;
const MAX_HEADER_VALUE = 2_000;
const MAX_HEADER_CHARACTERS = 8_000;
const MAX_REDIRECT = 4_000;

/** Applies logic's changes to the response. BadRequestError for a status, header or redirect that it may not set. */
export function applyResponse(run: Run, changes: Partial<ResponseChanges>): void {
  if (changes.status != null) {
    if (!Number.isInteger(changes.status) || changes.status < 200 || changes.status > 599) {
      throw new AppsError('BadRequestError', 'A response status is a whole number from 200 to 599');
    }
    run.response.status = changes.status;
  }
  for (const [name, value] of Object.entries(changes.headers ?? {})) setHeader(run, name, value);
  if (changes.redirect != null) run.response.redirect = safeRedirect(run, changes.redirect);
}

function setHeader(run: Run, name: string, value: string): void {
  const lower = name.toLowerCase();
  if (lower === 'content-type') {
    run.response.type = answerType(value);
    return;
  }
  if (!settableHeaders.has(lower) && !/^x-app-[a-z0-9-]+$/.test(lower)) {
    const allowed = [...settableHeaders, 'x-app-…'].join(', ');
    throw new AppsError('BadRequestError', `Logic may not set the header "${name}"; it may set ${allowed}`);
  }
  if (!/^[\t\x20-\x7e]*$/.test(value)) {
    throw new AppsError(
      'BadRequestError',
      `The value of the header "${name}" has characters that a header cannot carry`,
    );
  }
  if (value.length > MAX_HEADER_VALUE) {
    throw new AppsError(
      'BadRequestError',
      `The value of the header "${name}" is longer than ${MAX_HEADER_VALUE} characters`,
    );
  }
  if (lower === 'vary' && !VARY.test(value)) {
    throw new AppsError(
      'BadRequestError',
      'The value of the header "Vary" must be names of headers with commas between',
    );
  }
  const headers = Object.entries({ ...run.response.headers, [lower]: value });
  if (headers.length > MAX_HEADERS || headers.flat().join('').length > MAX_HEADER_CHARACTERS) {
    throw new AppsError(
      'BadRequestError',
      `Logic may set ${MAX_HEADERS} headers of ${MAX_HEADER_CHARACTERS} characters in all; "${name}" is one too many`,
    );
  }
  run.response.headers[lower] = value;
}

/** The media type that a header's value names; UTF-8 is the only charset. BadRequestError for any other type. */
function answerType(value: string): string {
  const [type = '', charset = 'charset=utf-8', ...more] = value.toLowerCase().replace(/[\s"]/g, '').split(';');
  if (answerTypes.includes(type) && charset === 'charset=utf-8' && more.length === 0) return type;
  const allowed = answerTypes.join(', ');
  throw new AppsError(
    'BadRequestError',
    `The content type of an element is one of ${allowed}, not "${value.slice(0, 100)}"`,
  );
}

/** The redirect of logic: by a returned string, or by `context.request.response`; null for none. */
export function redirectOf(run: Run, returned: unknown): string | null {
  if (typeof returned === 'string' && returned !== '') return safeRedirect(run, returned);
  return run.response.redirect;
}

/**
 * The absolute address of a redirect: inside the site, or on a host of `redirectHosts`. A path is relative to the
 * site's origin, any other relative address to the current page. BadRequestError for anything else, such as `//evil`,
 * `https:evil`, `/\evil` or `javascript:`.
 */
function safeRedirect(run: Run, target: string): string {
  const refusedRedirect = () =>
    new AppsError('BadRequestError', 'A redirect leads to an address of this site or to a configured host only');
  // A browser drops control characters and reads "\" as "/", so that it would follow another address than the checked one.
  if (/[\u0000-\u001f\u007f\\]/.test(target) || /^\s|\s$/.test(target)) throw refusedRedirect();
  if (/^[a-z][a-z0-9+.-]*:(?!\/\/)/i.test(target)) throw refusedRedirect();
  let url: URL;
  try {
    url = new URL(target, run.visit.request.url);
  } catch {
    throw refusedRedirect();
  }
  const home = new URL(run.visit.site.url);
  const inside = url.origin === home.origin;
  const known = run.services.config.redirectHosts.includes(hostOf(url));
  if (!(inside || known) || (url.protocol !== 'http:' && url.protocol !== 'https:')) throw refusedRedirect();
  if (url.username || url.password) throw refusedRedirect();
  if (url.href.length > MAX_REDIRECT) {
    throw new AppsError('BadRequestError', `The address of a redirect has at most ${MAX_REDIRECT} characters`);
  }
  return url.href;
}

/** The language of an app that is no longer there. */
const english = { locale: 'en', timeZone: null };

/**
 * The text of the mail that several mails of a form become, in the language of its app.
 * @param panelUrl the absolute address of the admin panel
 */
export async function digestOf(
  { sites, loadApp }: Pick<AppServices, 'sites' | 'loadApp'>,
  panelUrl: string,
  key: AppKey,
  { block, ...about }: { block: string; mails: number; links: readonly MailLink[] },
): Promise<DigestText> {
  const site = await sites.site(key.site);
  const app = site && (await loadApp(site, key.app));
  const locale = await localeFor(site ?? english, app?.folder.files ?? new Map(), app?.folder.themeFiles);
  const page = [key.site, key.app].map(encodeURIComponent).join('/');
  return digestText(locale, {
    ...about,
    form: `${key.app}/${block}`,
    listUrl: `${panelUrl}/plugins/apps/${page}/records`,
  });
}
