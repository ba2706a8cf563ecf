/**
 * Where to go after a login: `next` if it is a path inside the site, else the site's root. Safe against open redirects:
 * the path is resolved as a browser would (`..`, `%2e%2e`), and hosts, backslashes and control characters are refused.
 * @param next the request's parameter, of any type
 * @param siteUrl absolute URL of the site without trailing slash (`Site.url`)
 * @returns a path with query and fragment, starting with the site's path
 */
export function safeNext(next: unknown, siteUrl: string): string {
  const site = new URL(siteUrl);
  const root = `${site.pathname}/`;
  // Browsers drop tabs and line breaks, so that `/\t/host` would become `//host`.
  if (typeof next !== 'string' || !/^\/(?![/\\])[^\\\u0000-\u0020\u007f]*$/.test(next)) return root;
  let target: URL;
  try {
    target = new URL(next, site.origin);
  } catch {
    return root;
  }
  const inside =
    target.origin === site.origin && (target.pathname === site.pathname || target.pathname.startsWith(root));
  const ends = [`${root}@@login`, `${root}@@logout`].includes(target.pathname.replace(/%40/g, '@'));
  return inside && !ends ? `${target.pathname}${target.search}${target.hash}` : root;
}
