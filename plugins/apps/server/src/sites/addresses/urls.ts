import type { Site, Sites } from '../types';

/**
 * Addresses that work when requested (docs/reference/addresses.md#returned-addresses): reserved characters are
 * percent-encoded.
 */
export const urls: Sites['urls'] = {
  app: appUrl,
  record: (site, app, id, content) => `${appUrl(site, app, content)}/${recordPath(id)}`,
  view: (site, view, content) => `${pageUrl(site, content)}/@@${encodeSegment(view)}`,
  asset: (site, { theme, app, path }) => {
    const folder = app === undefined ? '' : `/apps/${encodeSegment(app)}`;
    return `${site.url}/@@theme/${encodeSegment(theme)}${folder}/assets/${path.split('/').map(encodeSegment).join('/')}`;
  },
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
