import type { Core } from '@strapi/strapi';
import { AppsError, missing, notFound } from '../common/errors';
import { recordIdProblem } from '../common/record-id';
import { percentDecoded } from '../common/text';
import type { SiteConfig } from '../config.types';
import type { Address, AppTarget, LinkTargetKind, Site, Sites } from './types';

/** Names that Windows takes for devices, with any ending. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])[ ]*(\.|$)/i;

/** Characters that one file system or another does not take in a name. */
const FORBIDDEN = /[\p{Cc}\p{Surrogate}:*?"<>|\\/]/u;

/** Bytes of a name that every file system takes, with room for an ending. */
const MAX_BYTES = 200;

/**
 * Why a file or folder of this name cannot be made on every system, as the end of a sentence; null where it can. Names that exist
 * are read all the same: only what is made or imported is asked.
 */
export function fileNameProblem(name: string): string | null {
  if (FORBIDDEN.test(name)) return 'has a character that not every file system takes';
  if (DEVICE.test(name)) return 'is a name that Windows keeps for a device';
  if (/[. ]$/.test(name)) return 'ends with a dot or a space, which not every file system keeps';
  return Buffer.byteLength(name) > MAX_BYTES ? `is longer than ${MAX_BYTES} bytes` : null;
}

/** What can name a site, theme, app, block, element or view (docs/reference/terms.md#ids). */
export const idPattern = /^(?!(?:__proto__|constructor|prototype)$|.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Whether a text can name a site, theme, app, block, element or view (docs/reference/terms.md#ids). */
export function isId(text: string): boolean {
  return idPattern.test(text);
}

/** The ending of links to apps of other themes. */
const LINK = /\.lnk$/i;

/**
 * Why nothing new can have this id, a site's id apart: it is also the name of a folder or of files. As the end of a sentence; null
 * where it can. What exists is read by `isId` alone.
 */
export function newIdProblem(id: string): string | null {
  return LINK.test(id) ? 'ends as a link to an app does' : fileNameProblem(id);
}

/** Addresses `@@<name>` of a site that are no views, by their names. */
const siteAddresses = {
  login: 'login',
  logout: 'logout',
  'apps.js': 'script',
  'apps.live.js': 'live-script',
  'apps.css': 'style',
  'apps.openapi.json': 'openapi',
  'apps.reload': 'reload',
  'apps.reload.js': 'reload-script',
} as const;

/** What follows `@@` in an address of the plugin's own, so that no view can have its name. */
export const reservedViews: ReadonlySet<string> = new Set(['apps', 'theme', ...Object.keys(siteAddresses)]);

/** A text without the slashes at its ends, in linear time; a regular expression takes quadratic time. */
export function trimSlashes(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === '/') start += 1;
  while (end > start && text[end - 1] === '/') end -= 1;
  return text.slice(start, end);
}

/** A segment of a path, decoded once; null if its percent-encoding is malformed. */
interface Segment {
  raw: string;
  text: string | null;
}

/**
 * Makes the parser of addresses (docs/reference/addresses.md#addresses-of-an-app). The path is the raw one, as the
 * client sent it, without query. Null: not an address of the plugin, the request goes on to Strapi.
 */
export function createAddressParser(siteIds: readonly string[]): (rawPath: string) => Address | null {
  const known = new Set(siteIds);
  const [defaultSite = ''] = siteIds;
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
    .map((raw) => ({ raw, text: percentDecoded(raw) }));
}

/** Refuses an app's address under an unknown site; all other addresses are Strapi's. */
function refuseUnknownSite(site: string, segments: Segment[]): null {
  if (segments.slice(1).some(({ text }) => text === '@@apps')) {
    throw notFound(isId(site) ? missing.site(site) : 'There is no such site');
  }
  return null;
}

/** The content path with normalized percent-encoding, without slashes at its ends. */
function contentOf(segments: Segment[]): string {
  return trimSlashes(segments.map(({ text }) => encodeURIComponent(wellFormed(text ?? nothingHere()))).join('/'));
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
    if (more.length > 0) nothingHere();
    return { kind: 'view', site, content: contentOf(content), view: idOf(name) };
  }
  if (contentOf(content) !== '') nothingHere();
  if (name === 'theme') return assetAddress(site, more);
  if (more.length > 0) nothingHere();
  return { kind: siteAddresses[name as keyof typeof siteAddresses], site };
}

function appAddress(site: string, content: string, [app, ...rest]: Segment[]): Address {
  return { kind: 'app', site, content, app: idOf(app?.text), target: targetOf(rest) };
}

/** Addresses of an app that end with these names. */
const wholeApp = new Map([
  ['records', 'records'],
  ['records.csv', 'records.csv'],
  ['records.xlsx', 'records.xlsx'],
  ['search', 'search'],
  ['search.csv', 'search.csv'],
  ['search.xlsx', 'search.xlsx'],
  ['refresh', 'refresh'],
  ['openapi.json', 'openapi'],
] as const satisfies [string, AppTarget['kind']][]);

/** Addresses of an app that end with the token of a signed link. */
export const linkKinds = ['mine', 'draft', 'confirm', 'unsubscribe'] as const satisfies readonly LinkTargetKind[];

const isLinkKind = (name: string | null): name is LinkTargetKind => (linkKinds as readonly unknown[]).includes(name);

/** Characters of a token; others are no token, and the address is of no page. */
const tokenPattern = /^[\w-]{1,200}$/;

const tokenOf = (text: string | null | undefined): string =>
  text != null && tokenPattern.test(text) ? text : nothingHere();

/** What follows the app's id. */
function targetOf(segments: Segment[]): AppTarget {
  const raw = segments.map((one) => one.raw).join('/');
  const recordId = idAfter('record', raw);
  if (recordId !== null) return recordTarget(recordId);
  const historyId = idAfter('history', raw);
  if (historyId !== null) return { kind: 'history', id: checkedId(historyId) };
  const [name, ...rest] = (segments.at(-1)?.raw === '' ? segments.slice(0, -1) : segments).map(({ text }) => text);
  if (name === undefined) return { kind: 'root' };
  const whole = rest.length === 0 ? (wholeApp as ReadonlyMap<string | null, 'records'>).get(name) : undefined;
  if (whole) return { kind: whole };
  if (name === 'files' && rest.length === 2) return fileTarget(rest);
  if (rest.length === 1 && isLinkKind(name)) return { kind: name, token: tokenOf(rest[0]) };
  if (name !== 'blocks' || rest.length < 1 || rest.length > 2) return nothingHere();
  const block = idOf(rest[0]);
  return rest.length === 1 ? { kind: 'block', block } : { kind: 'element', block, element: idOf(rest[1]) };
}

function fileTarget([id, name]: readonly (string | null)[]): AppTarget {
  return id && name ? { kind: 'file', id, name } : nothingHere();
}

/**
 * The raw record id: everything after `record/` or `history/`. Also after `record%2F`, because no client sends an id such as `..`
 * unchanged.
 */
function idAfter(name: keyof typeof beforeId, raw: string): string | null {
  return raw === name ? '' : (beforeId[name].exec(raw)?.[1] ?? null);
}

const beforeId = { record: /^record(?:\/|%2F)([\s\S]*)$/i, history: /^history(?:\/|%2F)([\s\S]*)$/i };

function decodedId(raw: string): string {
  const id = percentDecoded(raw);
  if (id === null) throw new AppsError('BadRequestError', 'The percent-encoding of the record id is malformed');
  return id;
}

/** A record's id, decoded. BadRequestError for one that no record can have. */
function checkedId(raw: string): string {
  const id = decodedId(raw);
  const problem = recordIdProblem(id);
  if (problem) throw new AppsError('BadRequestError', problem.rule);
  return id;
}

function recordTarget(raw: string): AppTarget {
  const id = decodedId(raw);
  const edit = id.length > '/edit'.length && id.endsWith('/edit');
  const problem = recordIdProblem(id) && recordIdProblem(edit ? id.slice(0, -'/edit'.length) : id);
  if (problem) throw new AppsError('BadRequestError', problem.rule);
  return { kind: 'record', id, edit };
}

/** `<theme_id>/assets/<path>` or `<theme_id>/apps/<app_id>/assets/<path>`; names that begin with a dot are never public. */
function assetAddress(site: string, segments: Segment[]): Address {
  const texts = segments.map(({ text }) => text ?? nothingHere());
  const theme = idOf(texts[0]);
  const app = texts[1] === 'apps' ? idOf(texts[2]) : undefined;
  const [folder, ...names] = texts.slice(app === undefined ? 1 : 3);
  const safe = names.every((name) => name !== '' && !name.startsWith('.') && !/[/\\]|\p{Cc}/u.test(name));
  if (folder !== 'assets' || names.length === 0 || !safe) return nothingHere();
  return { kind: 'theme-asset', site, theme, ...(app !== undefined && { app }), path: names.join('/') };
}

function idOf(text: string | null | undefined): string {
  return text != null && isId(text) ? text : nothingHere();
}

function nothingHere(): never {
  throw notFound('There is nothing at this address');
}

/**
 * Addresses that work when requested (docs/reference/addresses.md#returned-addresses): reserved characters are
 * percent-encoded.
 */
export const urls: Sites['urls'] = {
  app: appUrl,
  record: (site, app, id, content) => `${appUrl(site, app, content)}/${recordPath(id)}`,
  link: (site, app, name, token) => `${appUrl(site, app)}/${name}/${token}`,
  view: (site, view, content) => `${pageUrl(site, content)}/@@${encodeSegment(view)}`,
  asset: (site, { theme, app, path }) => {
    const folder = app === undefined ? '' : `/apps/${encodeSegment(app)}`;
    return `${site.url}/@@theme/${encodeSegment(theme)}${folder}/assets/${path.split('/').map(encodeSegment).join('/')}`;
  },
  file: ({ url }, app, id, name) =>
    `${url}/@@apps/${encodeSegment(app)}/files/${encodeSegment(id)}/${encodeSegment(name)}`,
  block: (site, app, block, content) => `${appUrl(site, app, content)}/blocks/${encodeSegment(block)}`,
};

function appUrl(site: Site, app: string, content?: string): string {
  return `${pageUrl(site, content)}/@@apps/${encodeSegment(app)}`;
}

const pageUrl = (site: Site, content = ''): string => `${site.url}${content === '' ? '' : `/${content}`}`;

/**
 * `record/<id>`, the id's slashes kept. Clients take `.` and `..` for steps between folders, also when their dots are
 * encoded; ids with such parts get their slashes encoded instead, the one before the id included.
 */
function recordPath(id: string): string {
  const parts = id.split('/');
  const steps = parts.some((part) => part === '.' || part === '..');
  return steps ? `record%2F${encodeSegment(id)}` : `record/${parts.map(encodeSegment).join('/')}`;
}

/** Text of RFC 3986's unreserved characters, which stays what it is: most ids, of which a search may find ten thousand. */
const unreserved = /^[\w.~-]*$/;

/** One segment of a path with all of RFC 3986's reserved characters encoded. */
export function encodeSegment(text: string): string {
  if (unreserved.test(text)) return text;
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  return encodeURIComponent(wellFormed).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Why a request may not name these locales: its site's address decides, so that all links of a page stay in one language.
 * Null for the site's own.
 * @param sites those that may have the other locale
 */
export function localeProblem(site: Site, query: URLSearchParams, sites: readonly Site[] = []): string | null {
  if (site.locale === null) return null;
  const names = [...query].flatMap(([name, value]) => (name === 'locale' || name.startsWith('locale[') ? [value] : []));
  const other = names.find((name) => name !== '' && name !== site.locale);
  if (other === undefined) return null;
  const there = sites.find(({ locale }) => locale === other);
  const where = there ? `content in that locale is below ${there.url}` : 'no site has that locale';
  return `The site "${site.id}" is in the locale "${site.locale}", and "locale" names another one: ${where}`;
}

/** Logs a warning about sites whose locale Strapi does not know: one may be added while the server runs. */
export async function warnOfLocales(
  strapi: Core.Strapi,
  sites: readonly SiteConfig[],
  logger: { warn(message: string): void },
): Promise<void> {
  const found: { code: string }[] = (await strapi.plugin('i18n')?.service('locales').find()) ?? [];
  const known = found.map(({ code }) => code);
  for (const { id, locale } of sites) {
    if (locale === undefined || known.includes(locale)) continue;
    logger.warn(
      `[apps] the site "${id}" has the locale "${locale}", which is none of Strapi's (${known.join(', ')}): its localized ` +
        'content is not found until the locale is added in the settings, under Internationalization',
    );
  }
}
