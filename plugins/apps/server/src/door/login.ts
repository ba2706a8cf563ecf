import type { Context } from 'koa';
import { escapeHtml } from '../apps';
import { AppsError, isAppsError } from '../errors';
import { safeNext } from '../requester';
import type { Requester } from '../requester/types';
import type { Site } from '../sites/types';
import { formFields } from './body';
import { csrfOf } from './csrf';
import type { DoorServices } from './exchange';
import { prefersJson } from './negotiate';
import { bareDocument } from './pages';
import { checkRawBody } from './raw-body';

/** `/<site_id>/@@login`: a form, and what it posts (contract, section 5). */
export async function login(ctx: Context, services: DoorServices, site: Site): Promise<void> {
  const requester = await visitorOf(ctx, services, site);
  if (!requester) return;
  const token = services.requesters.csrf.issue(requester);
  if (ctx.method !== 'POST') return showForm(ctx, site, { token, next: ctx.query.next });
  services.requesters.csrf.verify(csrfOf(ctx), requester);
  await checkRawBody(ctx, services.config.limits.bodySize);
  const { username, identifier = username, password, next } = formFields(ctx);
  if (typeof identifier !== 'string' || typeof password !== 'string' || identifier === '' || password === '') {
    return showForm(ctx, site, { token, next, identifier, error: 'Enter your name and your password' });
  }
  try {
    const { cookie } = await services.requesters.login(ctx, identifier, password);
    ctx.append('Set-Cookie', cookie);
    seeOther(ctx, site, next);
  } catch (error) {
    if (!isAppsError(error, 'UnauthorizedError') && !isAppsError(error, 'RateLimitError')) throw error;
    ctx.set(error.headers);
    showForm(ctx, site, { token, next, identifier, error: error.message });
    ctx.status = error.status;
  }
}

/** Who asks for the form; null after it was shown to somebody whose session has ended, with the cookie taken back. */
async function visitorOf(ctx: Context, services: DoorServices, site: Site): Promise<Requester | null> {
  const { requesters } = services;
  try {
    return await requesters.identify(ctx);
  } catch (error) {
    if (ctx.method === 'POST' || prefersJson(ctx) || !isAppsError(error, 'UnauthorizedError')) throw error;
    const token = requesters.csrf.issue(await requesters.anonymous());
    ctx.set(error.headers);
    showForm(ctx, site, { token, next: ctx.query.next, error: error.message });
    ctx.status = error.status;
    return null;
  }
}

/** `/<site_id>/@@logout`: ends the session; a link to it does, so does a form with its token. */
export async function logout(ctx: Context, services: DoorServices, site: Site): Promise<void> {
  if (ctx.method === 'POST') {
    services.requesters.csrf.verify(csrfOf(ctx), await services.requesters.identify(ctx));
  }
  ctx.append('Set-Cookie', await services.requesters.logout(ctx));
  seeOther(ctx, site, ctx.query.next);
}

function seeOther(ctx: Context, site: Site, next: unknown): void {
  ctx.status = 303;
  ctx.set('Location', new URL(safeNext(next, site.url), site.url).href);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = 'See other';
}

interface LoginForm {
  token: string;
  next: unknown;
  identifier?: unknown;
  error?: string;
}

function showForm(ctx: Context, site: Site, { token, next, identifier, error }: LoginForm): void {
  const problem = error ? `<p role="alert">${escapeHtml(error)}</p>\n` : '';
  const entered = typeof identifier === 'string' ? escapeHtml(identifier) : '';
  ctx.status = 200;
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('Authorization, Cookie');
  ctx.body = bareDocument({
    title: `Log in to ${site.title}`,
    main: `<h1>Log in to ${escapeHtml(site.title)}</h1>
${problem}<form method="post" action="${escapeHtml(`${site.url}/@@login`)}">
<input type="hidden" name="_csrf" value="${escapeHtml(token)}">
<input type="hidden" name="next" value="${escapeHtml(safeNext(next, site.url))}">
<div class="apps-field"><label for="identifier">Name or e-mail</label>
<input id="identifier" name="identifier" autocomplete="username" required value="${entered}"></div>
<div class="apps-field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required></div>
<button type="submit">Log in</button>
</form>`,
  });
}

/** Methods of the login addresses. */
export function requireLoginMethod(ctx: Context): void {
  if (['GET', 'HEAD', 'POST'].includes(ctx.method)) return;
  throw new AppsError('MethodNotAllowedError', 'This address takes GET and POST', {
    headers: { Allow: 'GET, HEAD, POST' },
  });
}
