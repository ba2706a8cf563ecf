import type { Context } from 'koa';
import { safeNext } from '../../auth';
import type { Requester } from '../../auth/types';
import { isAppsError, methodNotAllowed } from '../../common/errors';
import type { Site } from '../../sites/types';
import { formFields } from '../request/body';
import { csrfOf, requireOwnForm } from '../request/csrf';
import type { HttpServices } from '../request/exchange';
import { prefersJson } from '../request/negotiate';
import { checkRawBody } from '../request/raw-body';
import { showLogin, showLogout } from './login-forms';

/** Answers `/<site_id>/@@login`: shows the form and logs in (docs/reference/rights.md#login-and-logout). */
export async function login(ctx: Context, services: HttpServices, site: Site): Promise<void> {
  if (ctx.method === 'POST') return postLogin(ctx, services, site);
  const { next, 'hand-over': handOver } = ctx.query;
  if (typeof handOver === 'string' && ctx.method === 'GET')
    return loginByHandOver(ctx, services, site, { handOver, next });
  try {
    await services.requesters.identify(ctx);
    await showLogin(ctx, services, site, { next });
  } catch (error) {
    // A session that has ended: the form says so, and the cookie is deleted.
    if (prefersJson(ctx) || !isAppsError(error, 'UnauthorizedError')) throw error;
    await showLogin(ctx, services, site, { next, error, problem: 'login_ended' });
  }
}

/** Logs in an administrator whom the admin panel has handed over, and redirects away from the address with the token. */
async function loginByHandOver(
  ctx: Context,
  services: HttpServices,
  site: Site,
  { handOver, next }: { handOver: string; next: unknown },
): Promise<void> {
  ctx.set('Referrer-Policy', 'no-referrer');
  try {
    ctx.append('Set-Cookie', await services.requesters.loginByHandOver(ctx, handOver));
    seeOther(ctx, site, next);
  } catch (error) {
    const isRefusal = isAppsError(error, 'UnauthorizedError') || isAppsError(error, 'CsrfError');
    if (prefersJson(ctx) || !isRefusal) throw error;
    await showLogin(ctx, services, site, { next, error });
  }
}

async function postLogin(ctx: Context, services: HttpServices, site: Site): Promise<void> {
  const { requesters } = services;
  await checkRawBody(ctx, services.config.limits.bodySize);
  const { username, identifier = username, password, next } = formFields(ctx);
  try {
    requireOwnForm(ctx, services.requesters);
    requesters.checkLoginForm(ctx, csrfOf(ctx));
  } catch (error) {
    // Nothing of what another page sent is shown in the form.
    if (prefersJson(ctx) || !isAppsError(error, 'CsrfError')) throw error;
    return showLogin(ctx, services, site, { next, error });
  }
  if (typeof identifier !== 'string' || typeof password !== 'string' || identifier === '' || password === '') {
    return showLogin(ctx, services, site, { next, identifier, problem: 'login_incomplete' });
  }
  try {
    const { cookie } = await requesters.login(ctx, identifier, password);
    ctx.append('Set-Cookie', cookie);
    seeOther(ctx, site, next);
  } catch (error) {
    if (!isAppsError(error, 'UnauthorizedError') && !isAppsError(error, 'RateLimitError')) throw error;
    await showLogin(ctx, services, site, {
      next,
      identifier,
      error,
      // It does not tell which half was wrong.
      ...(error.status === 401 && { problem: 'login_wrong' }),
    });
  }
}

/** `/<site_id>/@@logout`: asks whether to end the session; the form's POST ends it. */
export async function logout(ctx: Context, services: HttpServices, site: Site): Promise<void> {
  const { requesters } = services;
  if (ctx.method === 'POST') requireOwnForm(ctx, requesters);
  const requester = await loggedIn(ctx, services);
  if (requester && ctx.method !== 'POST') {
    return showLogout(ctx, services, site, requester);
  }
  if (requester) {
    requesters.csrf.verify(csrfOf(ctx), requester);
    ctx.append('Set-Cookie', await requesters.logout(ctx));
  }
  seeOther(ctx, site, formNext(ctx));
}

/** The requester of this browser's session; null without one, also after it has ended: the cookie is then removed. */
async function loggedIn(ctx: Context, { requesters }: HttpServices): Promise<Requester | null> {
  try {
    const requester = await requesters.identify(ctx);
    return requester.credential === 'cookie' ? requester : null;
  } catch (error) {
    if (!isAppsError(error, 'UnauthorizedError')) throw error;
    ctx.set(error.headers);
    return null;
  }
}

/** The address to go to after a logout: from the query, or the posted form. */
function formNext(ctx: Context): unknown {
  return ctx.method === 'POST' ? (formFields(ctx).next ?? ctx.query.next) : ctx.query.next;
}

function seeOther(ctx: Context, site: Site, next: unknown): void {
  ctx.status = 303;
  ctx.set('Location', new URL(safeNext(next, site.url), site.url).href);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = 'See other';
}

/** Methods of the login addresses. */
export function requireLoginMethod(ctx: Context): void {
  if (['GET', 'HEAD', 'POST'].includes(ctx.method)) return;
  throw methodNotAllowed('GET, HEAD, POST', 'This address takes GET and POST');
}
