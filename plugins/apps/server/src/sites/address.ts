import { AppsError } from '../errors';
import { isId, recordIdProblem, reservedViews, trimSlashes } from './ids';
import type { Address, AppTarget } from './types';

/** A segment of a path, decoded once; null if its percent-encoding is malformed. */
interface Segment {
  raw: string;
  text: string | null;
}

/**
 * Makes the parser of addresses (contract, section 3). The path is the raw one, as the client sent it, without query.
 * Null: none of the plugin's addresses, the request goes on to Strapi.
 */
export function createAddressParser(siteIds: readonly string[]): (rawPath: string) => Address | null {
  const known = new Set(siteIds);
  const defaultSite = siteIds[0] as string;
  return (rawPath) => {
    const segments = segmentsOf(rawPath);
    const first = segments[0]?.text;
    if (first == null) return refuseUnknownSite('', segments);
    if (first.startsWith('@@')) return special(defaultSite, [], segments);
    if (!known.has(first)) return refuseUnknownSite(first, segments);
    const rest = segments.slice(1);
    const mark = rest.findIndex(({ text }) => text?.startsWith('@@'));
    if (mark >= 0) return special(first, rest.slice(0, mark), rest.slice(mark));
    // `/site` itself is the site's page too.
    return { kind: 'page', site: first, content: contentOf(rest) };
  };
}

function segmentsOf(rawPath: string): Segment[] {
  return rawPath
    .replace(/^\//, '')
    .split('/')
    .map((raw) => ({ raw, text: decode(raw) }));
}

function decode(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/** An app's address under a site that does not exist is the plugin's to refuse; everything else is Strapi's. */
function refuseUnknownSite(site: string, segments: Segment[]): null {
  if (segments.slice(1).some(({ text }) => text === '@@apps')) {
    throw new AppsError('NotFoundError', isId(site) ? `There is no site "${site}"` : 'There is no such site');
  }
  return null;
}

/** The content path in one form, whatever the client has encoded or not; without slashes at its ends. */
function contentOf(segments: Segment[]): string {
  return trimSlashes(segments.map(({ text }) => encodeURIComponent(wellFormed(text ?? notFound()))).join('/'));
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** What `@@…` means in a path; `content` comes before it. */
function special(site: string, content: Segment[], [mark, ...rest]: Segment[]): Address {
  const name = mark?.text?.slice(2) ?? '';
  if (name === 'apps') return appAddress(site, contentOf(content), rest);
  const more = rest.length === 1 && rest[0]?.raw === '' ? [] : rest;
  if (!reservedViews.has(name)) {
    if (more.length > 0) notFound();
    return { kind: 'view', site, content: contentOf(content), view: idOf(name) };
  }
  if (contentOf(content) !== '') notFound();
  if (name === 'theme') return assetAddress(site, more);
  if (more.length > 0) notFound();
  return { kind: name === 'apps.js' ? 'script' : (name as 'login' | 'logout'), site };
}

function appAddress(site: string, content: string, [app, ...rest]: Segment[]): Address {
  return { kind: 'app', site, content, app: idOf(app?.text), target: targetOf(rest) };
}

/** What follows the app's id. */
function targetOf(segments: Segment[]): AppTarget {
  const recordId = recordIdOf(segments.map(({ raw }) => raw).join('/'));
  if (recordId !== null) return recordTarget(recordId);
  const [name, ...rest] = (segments.at(-1)?.raw === '' ? segments.slice(0, -1) : segments).map(({ text }) => text);
  if (name === undefined) return { kind: 'root' };
  if (rest.length === 0 && (name === 'records' || name === 'search' || name === 'refresh')) return { kind: name };
  if (name !== 'blocks' || rest.length < 1 || rest.length > 2) return notFound();
  const block = idOf(rest[0]);
  return rest.length === 1 ? { kind: 'block', block } : { kind: 'element', block, element: idOf(rest[1]) };
}

/**
 * The raw record id: everything after `record/`. Also after `record%2F`, for no client would send an id such as `..`
 * on as it is.
 */
function recordIdOf(raw: string): string | null {
  return raw === 'record' ? '' : (/^record(?:\/|%2F)([\s\S]*)$/i.exec(raw)?.[1] ?? null);
}

function recordTarget(raw: string): AppTarget {
  const id = decode(raw);
  if (id === null) throw new AppsError('BadRequestError', 'The percent-encoding of the record id is malformed');
  const edit = id.length > '/edit'.length && id.endsWith('/edit');
  const problem = recordIdProblem(id) && recordIdProblem(edit ? id.slice(0, -'/edit'.length) : id);
  if (problem) throw new AppsError('BadRequestError', problem);
  return { kind: 'record', id, edit };
}

/** `<theme_id>/assets/<path>` or `<theme_id>/apps/<app_id>/assets/<path>`; names that begin with a dot are never public. */
function assetAddress(site: string, segments: Segment[]): Address {
  const texts = segments.map(({ text }) => text ?? notFound());
  const theme = idOf(texts[0]);
  const app = texts[1] === 'apps' ? idOf(texts[2]) : undefined;
  const [folder, ...names] = texts.slice(app === undefined ? 1 : 3);
  const safe = names.every((name) => name !== '' && !name.startsWith('.') && !/[/\\]|\p{Cc}/u.test(name));
  if (folder !== 'assets' || names.length === 0 || !safe) return notFound();
  return { kind: 'theme-asset', site, theme, ...(app !== undefined && { app }), path: names.join('/') };
}

function idOf(text: string | null | undefined): string {
  return text != null && isId(text) ? text : notFound();
}

function notFound(): never {
  throw new AppsError('NotFoundError', 'There is nothing at this address');
}
