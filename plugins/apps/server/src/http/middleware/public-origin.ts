import type { Context } from 'koa';

/**
 * Lets a page that was opened under another name of the server (127.0.0.1 instead of localhost) use the site's addresses,
 * which all begin with the public URL: wherever the Content-Security-Policy allows 'self', it then allows the public URL's
 * origin too.
 */
export function createPublicOrigin(baseUrl: () => string): (ctx: Context) => void {
  const header = 'Content-Security-Policy';
  let known = '';
  let own = { host: '', origin: '' };
  return (ctx) => {
    const url = baseUrl();
    if (url !== known) {
      own = new URL(url);
      known = url;
    }
    if (ctx.get('Host') === own.host) return;
    const policy = ctx.response.get(header);
    if (policy !== '') ctx.set(header, policy.replaceAll("'self'", `'self' ${own.origin}`));
  };
}
