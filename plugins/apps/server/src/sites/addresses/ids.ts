import { fileNameProblem } from './file-names';

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
export const siteAddresses = {
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
