import { AppsError } from '../errors';
import type { ResponseChanges } from '../logic/types';
import type { Run } from './run';

/** Response headers that logic may set, in lower case; everything else is the server's business (contract, section 8). */
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

/** What headers that logic sets, and the address of a redirect, may come to: browsers and proxies refuse answers with more. */
const most = { value: 2_000, count: 50, characters: 8_000, redirect: 4_000 };

/** Applies what logic wants of the response. BadRequestError for a status, header or redirect that it may not set. */
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
  if (value.length > most.value) {
    throw new AppsError('BadRequestError', `The value of the header "${name}" is longer than ${most.value} characters`);
  }
  const headers = Object.entries({ ...run.response.headers, [lower]: value });
  if (headers.length > most.count || headers.flat().join('').length > most.characters) {
    throw new AppsError(
      'BadRequestError',
      `Logic may set ${most.count} headers of ${most.characters} characters in all; "${name}" is one too many`,
    );
  }
  run.response.headers[lower] = value;
}

/** The media type that a header's value names; UTF-8 is the only charset. BadRequestError for one that is not in the list. */
function answerType(value: string): string {
  const [type = '', charset = 'charset=utf-8', ...more] = value.toLowerCase().replace(/[\s"]/g, '').split(';');
  if (answerTypes.includes(type) && charset === 'charset=utf-8' && more.length === 0) return type;
  const allowed = answerTypes.join(', ');
  throw new AppsError(
    'BadRequestError',
    `The content type of an element is one of ${allowed}, not "${value.slice(0, 100)}"`,
  );
}

/** The redirect that logic asked for: by `context.request.response`, or by a returned string; null for none. */
export function redirectOf(run: Run, returned: unknown): string | null {
  if (typeof returned === 'string' && returned !== '') return safeRedirect(run, returned);
  return run.response.redirect;
}

/**
 * An absolute address to redirect to: inside the site, or on a host of `redirectHosts`. A path is taken from the
 * site's origin, a relative one from the current page. BadRequestError for anything else, such as `//evil`,
 * `https:evil`, `/\evil` or `javascript:`.
 */
export function safeRedirect(run: Run, target: string): string {
  const refusedRedirect = () =>
    new AppsError('BadRequestError', 'A redirect leads to an address of this site or to a configured host only');
  // A browser drops control characters and reads "\" as "/": what is checked here must be what it will see.
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
  const known = run.services.config.redirectHosts.includes(url.host);
  if (!(inside || known) || (url.protocol !== 'http:' && url.protocol !== 'https:')) throw refusedRedirect();
  if (url.username || url.password) throw refusedRedirect();
  if (url.href.length > most.redirect) {
    throw new AppsError('BadRequestError', `The address of a redirect has at most ${most.redirect} characters`);
  }
  return url.href;
}
