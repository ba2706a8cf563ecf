/** The part of a request that tells which page has sent it. */
export interface SenderContext {
  method?: string;
  /** Name and port of the server in the request. */
  host?: string;
  request: {
    headers: {
      origin?: string | undefined;
      'sec-fetch-site'?: string | string[] | undefined;
      'sec-fetch-mode'?: string | string[] | undefined;
      'sec-fetch-dest'?: string | string[] | undefined;
    };
  };
}

export interface OwnOrigins {
  /** Strapi's `server.url`: '' or a path where the host has none. */
  publicUrl: string;
  /** Other origins whose pages may act for a visitor, as browsers send them. */
  trusted: readonly string[];
}

/** Methods that change nothing unless logic does: they need no CSRF token (docs/reference/http.md#csrf-tokens). */
export const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a page of another origin has sent a request, as far as the browser says. Its cookies then prove nothing about the
 * requester: `SameSite` lets them pass from other ports and subdomains, whose pages may be anyone's. A link from elsewhere
 * is not foreign: a visitor who follows it sees the page, not the site that linked to it.
 *
 * `Sec-Fetch-Site` is the most reliable, but is sent to https and localhost only; elsewhere `Origin` is used, except for a
 * form on a page without a referrer (Strapi's default), which sends `Origin: null`: there the CSRF token is the proof.
 */
export function isUntrustedOrigin(sent: SenderContext, { publicUrl, trusted }: OwnOrigins): boolean {
  const { headers } = sent.request;
  const { origin, 'sec-fetch-site': site } = headers;
  const method = sent.method ?? 'GET';
  if (origin !== undefined && trusted.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none' && !isTopNavigation(method, headers);
  if (origin === undefined) return false;
  if (origin === 'null') return safeMethods.has(method);
  const from = hostOf(origin);
  return from === null || ![sent.host, hostOf(publicUrl)].includes(from);
}

/** Whether the browser says that a page of another origin sent the request or linked to it. */
export function isCrossOrigin({ request: { headers } }: SenderContext): boolean {
  const { 'sec-fetch-site': site } = headers;
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** A followed link or an entered address: the page replaces another one. */
function isTopNavigation(method: string, headers: SenderContext['request']['headers']): boolean {
  const isDocument = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isDocument && safeMethods.has(method);
}

/** Host and port of a URL; null for anything else. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}
