import type { Context } from 'koa';

/**
 * Lets a page that was opened under another name of the server (127.0.0.1 for localhost, say) use the site's addresses,
 * which all begin with the public URL: wherever the Content-Security-Policy takes 'self' it takes that origin too.
 */
export function allowOwnOrigin(ctx: Context, baseUrl: string): void {
  const { host, origin } = new URL(baseUrl);
  const header = 'Content-Security-Policy';
  const policy = ctx.response.get(header);
  if (policy === '' || ctx.get('Host') === host) return;
  ctx.set(header, policy.replaceAll("'self'", `'self' ${origin}`));
}
