import type { Context } from 'koa';
import { escapeHtml } from '../apps';
import { AppsError, isAppsError } from '../errors';
import { safeNext } from '../requester';
import type { Requester } from '../requester/types';
import type { Site } from '../sites/types';
import { formFields } from './body';
import { csrfOf, requireOwnForm } from './csrf';
import type { DoorServices } from './exchange';
import { sitePage } from './in-theme';
import { prefersJson } from './negotiate';
import { bareDocument } from './pages';
import { checkRawBody } from './raw-body';
import { bareStatuses } from './respond-error';

/** `/<site_id>/@@login`: a form, and what it posts (contract, section 5). */
export async function login(ctx: Context, services: DoorServices, site: Site): Promise<void> {
  if (ctx.method === 'POST') return postLogin(ctx, services, site);
  const { next, 'hand-over': handOver } = ctx.query;
  if (typeof handOver === 'string' && ctx.method === 'GET') return enter(ctx, services, site, { handOver, next });
  try {
    await services.requesters.identify(ctx);
    await showLogin(ctx, services, site, { next });
  } catch (error) {
    // A session that has ended: the form says so, and the cookie is taken back.
    if (prefersJson(ctx) || !isAppsError(error, 'UnauthorizedError')) throw error;
    await showLogin(ctx, services, site, { next, error });
  }
}

/** Logs in an administrator whom the admin panel has handed over, and redirects away from the address with the token. */
async function enter(
  ctx: Context,
  services: DoorServices,
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

async function postLogin(ctx: Context, services: DoorServices, site: Site): Promise<void> {
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
    return showLogin(ctx, services, site, { next, identifier, problem: 'Enter your name and your password' });
  }
  try {
    const { cookie } = await requesters.login(ctx, identifier, password);
    ctx.append('Set-Cookie', cookie);
    seeOther(ctx, site, next);
  } catch (error) {
    if (!isAppsError(error, 'UnauthorizedError') && !isAppsError(error, 'RateLimitError')) throw error;
    await showLogin(ctx, services, site, { next, identifier, error });
  }
}

/** `/<site_id>/@@logout`: asks whether to end the session; the form's POST ends it. */
export async function logout(ctx: Context, services: DoorServices, site: Site): Promise<void> {
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
async function loggedIn(ctx: Context, { requesters }: DoorServices): Promise<Requester | null> {
  try {
    const requester = await requesters.identify(ctx);
    return requester.credential === 'cookie' ? requester : null;
  } catch (error) {
    if (!isAppsError(error, 'UnauthorizedError')) throw error;
    ctx.set(error.headers);
    return null;
  }
}

/** Where to go after a logout: the address names it, or the posted form. */
function formNext(ctx: Context): unknown {
  return ctx.method === 'POST' ? (formFields(ctx).next ?? ctx.query.next) : ctx.query.next;
}

function seeOther(ctx: Context, site: Site, next: unknown): void {
  ctx.status = 303;
  ctx.set('Location', new URL(safeNext(next, site.url), site.url).href);
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = 'See other';
}

interface LoginForm {
  next: unknown;
  /** What was entered as the name. */
  identifier?: unknown;
  problem?: string;
  /** Gives the answer its status, headers and problem. */
  error?: AppsError;
}

async function showLogin(ctx: Context, services: DoorServices, site: Site, form: LoginForm): Promise<void> {
  const { next, identifier, error, problem = error?.message } = form;
  const { token, cookie } = services.requesters.loginForm(ctx);
  const alert = problem ? `<p role="alert">${escapeHtml(problem)}</p>\n` : '';
  const entered = typeof identifier === 'string' ? escapeHtml(identifier) : '';
  if (error) ctx.set(error.headers);
  if (cookie !== null) ctx.append('Set-Cookie', cookie);
  ctx.status = error?.status ?? 200;
  await showForm(ctx, services, site, {
    title: `Log in to ${site.title}`,
    before: alert,
    action: `${site.url}/@@login`,
    hidden: { _csrf: token, next: safeNext(next, site.url) },
    fields: `<div class="apps-field"><label for="identifier">Name or e-mail</label>
<input id="identifier" name="identifier" autocomplete="username" required value="${entered}"></div>
<div class="apps-field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required></div>
`,
    button: 'Log in',
  });
}

async function showLogout(ctx: Context, services: DoorServices, site: Site, requester: Requester): Promise<void> {
  ctx.status = 200;
  await showForm(ctx, services, site, {
    title: `Log out of ${site.title}`,
    before: '',
    action: `${site.url}/@@logout`,
    hidden: { _csrf: services.requesters.csrf.issue(requester), next: safeNext(ctx.query.next, site.url) },
    requester,
    fields: '',
    button: 'Log out',
  });
}

interface FormPage {
  title: string;
  /** Who sees it; undefined: anonymous. */
  requester?: Requester;
  /** HTML before the form and in it. */
  before: string;
  fields: string;
  action: string;
  hidden: Record<string, string>;
  button: string;
}

/** A page of one form, which no cache keeps. */
async function showForm(ctx: Context, services: DoorServices, site: Site, form: FormPage): Promise<void> {
  const { title, requester, before, fields, action, hidden, button } = form;
  const inputs = Object.entries(hidden).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">\n`,
  );
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('Authorization, Cookie');
  const page = {
    title,
    main: `<h1>${escapeHtml(title)}</h1>
${before}<form method="post" action="${escapeHtml(action)}">
${inputs.join('')}${fields}<button type="submit" class="apps-action">${button}</button>
</form>`,
  };
  ctx.body = bareStatuses.has(ctx.status) ? bareDocument(page) : await sitePage(ctx, services, site, requester, page);
}

/** Methods of the login addresses. */
export function requireLoginMethod(ctx: Context): void {
  if (['GET', 'HEAD', 'POST'].includes(ctx.method)) return;
  throw new AppsError('MethodNotAllowedError', 'This address takes GET and POST', {
    headers: { Allow: 'GET, HEAD, POST' },
  });
}
