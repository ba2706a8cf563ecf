import type { Context } from 'koa';
import {
  attributes,
  escapeHtml,
  html,
  inEnglish,
  type PageContent,
  type PageLocale,
  plainLocale,
  type ServiceMessage,
  siteLocale,
} from '../../apps';
import { safeNext } from '../../auth';
import type { Requester } from '../../auth/types';
import { AppsError, isAppsError } from '../../common/errors';
import type { Site } from '../../sites/types';
import { checkBody, checkRawBody, defersForm, formFields } from '../request/body';
import { csrfOf, requireOwnForm } from '../request/csrf';
import type { HttpServices, Located, Reached } from '../request/exchange';
import { sentAddress } from '../request/locate';
import { prefersJson, wantsFragment } from '../request/negotiate';
import { fieldsToSend, isLogin, keptFields, keptName, LOGIN, unkept } from '../request/page-form';
import { readFieldsOnly } from '../request/read-body';
import { bareDocument, inLanguage, problemText, sitePage } from '../response/pages';
import { bareStatuses } from '../response/respond-error';

interface LoginForm {
  next: unknown;
  /** What was entered as the name. */
  identifier?: unknown;
  /** Without it, the problem is that of `error`. */
  problem?: ServiceMessage;
  /** A sentence after the problem. */
  note?: ServiceMessage;
  /** Gives the answer its status and headers. */
  error?: AppsError;
  /** The address of the form, and further hidden fields, where it is not the login page's own. */
  inline?: { action: string; hidden: [name: string, value: string][] };
}

/** Answers with the login form: the theme's `templates/login.html`, else the plugin's own. */
async function showLogin(ctx: Context, services: HttpServices, site: Site, form: LoginForm): Promise<void> {
  const { next, identifier, error, inline } = form;
  const locale = await formLocale(services, site, error);
  const say: Say = (key, values) => escapeHtml(locale.say(key, values));
  const problem = problemOf(locale, form);
  const { token, cookie } = services.requesters.loginForm(ctx);
  const alert = problem ? `<p role="alert">${escapeHtml(problem)}</p>\n` : '';
  const entered = typeof identifier === 'string' ? identifier : '';
  if (error) ctx.set(error.headers);
  if (cookie !== null) ctx.append('Set-Cookie', cookie);
  ctx.status = error?.status ?? 200;
  const target = safeNext(next, site.url);
  await showForm(ctx, services, site, {
    locale,
    title: locale.say('login_title', { site: site.title }),
    before: alert,
    action: inline?.action ?? `${site.url}/@@login`,
    hidden: [['_csrf', token], ['next', target], ...(inline?.hidden ?? [])],
    fields: `<div class="apps-field"><label for="identifier">${say('login_name')}</label>
<input id="identifier" name="identifier" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" required value="${escapeHtml(entered)}"></div>
<div class="apps-field"><label for="password">${say('login_password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required></div>
`,
    button: say('login'),
    login: { identifier: entered, next: target, message: problem, status: ctx.status, csrf_token: token },
  });
}

type Say = PageLocale['say'];

/** The language of a form; bare pages do not ask the theme. */
const formLocale = (services: HttpServices, site: Site, error?: AppsError): Promise<PageLocale> =>
  bareStatuses.has(error?.status ?? 200) ? plainLocale(site) : siteLocale(services, site);

/** What the form says above its fields, as text; '' for nothing. */
function problemOf(locale: PageLocale, { problem, note, error }: LoginForm): string {
  const text = problem ? locale.say(problem) : error ? problemText(locale, error) : '';
  if (!note) return text;
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  return `${sentence} ${locale.say(note)}`;
}

/** Answers with the form that asks whether to end the session. */
async function showLogout(ctx: Context, services: HttpServices, site: Site, requester: Requester): Promise<void> {
  ctx.status = 200;
  const locale = await siteLocale(services, site);
  await showForm(ctx, services, site, {
    locale,
    title: locale.say('logout_title', { site: site.title }),
    before: '',
    action: `${site.url}/@@logout`,
    hidden: [
      ['_csrf', services.requesters.csrf.issue(requester)],
      ['next', safeNext(ctx.query.next, site.url)],
    ],
    requester,
    fields: '',
    button: escapeHtml(locale.say('logout')),
  });
}

interface FormPage {
  locale: PageLocale;
  title: string;
  /** The requester who sees it; undefined: anonymous. */
  requester?: Requester;
  /** HTML before the form and in it. */
  before: string;
  fields: string;
  action: string;
  hidden: [name: string, value: string][];
  /** HTML of its button. */
  button: string;
  /** Data of the theme's template of the login form. */
  login?: Record<string, string | number>;
}

/** A page of one form, which no cache keeps. */
async function showForm(ctx: Context, services: HttpServices, site: Site, form: FormPage): Promise<void> {
  const { locale, title, requester, before, fields, action, hidden, button, login } = form;
  const inputs = hidden
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">\n`)
    .join('');
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('Authorization, Cookie');
  const page: PageContent = {
    title,
    ...(login && { template: { name: 'login', data: { login: { ...login, title, action, hidden: html(inputs) } } } }),
    main: inLanguage(
      locale,
      site,
      `<h1>${escapeHtml(title)}</h1>
${before}<form method="post" action="${escapeHtml(action)}">
${inputs}${fields}<button type="submit" class="apps-action">${button}</button>
</form>`,
    ),
  };
  ctx.body = bareStatuses.has(ctx.status)
    ? bareDocument({ ...page, lang: site.locale })
    : await sitePage(ctx, services, site, requester, page);
}

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

/**
 * The requester of a posted form of a page. Where they lack a login, the answer is a login form at the same address that
 * keeps what was entered; sent, it logs in and leaves the form's own fields as the request's, so that the form is shown
 * again and nothing is carried out (docs/reference/rights.md#forms-sent-after-the-session-has-ended).
 */
export async function formRequester({ ctx, services, sender }: Located): Promise<Requester> {
  const { body } = ctx.request as { body?: Record<string, unknown> };
  const isLoginForm = body !== undefined && isLogin(body);
  if (sender.kind === 'panel') {
    if (isLoginForm) throw new AppsError('ForbiddenError', 'A preview has no login');
    return sender.requester;
  }
  return isLoginForm ? logIn(ctx, services) : services.requesters.identify(ctx);
}

/** Whether what was entered in a form is kept where it fails: a script keeps it by itself. */
const keepsEntered = ({ ctx, isForm = false }: Reached): boolean =>
  isForm && ctx.get('Authorization') === '' && ctx.get('X-CSRF-TOKEN') === '' && !wantsFragment(ctx);

/** A login form that was not filled in right; its text is for visitors. */
class WrongLogin extends AppsError {
  constructor(readonly text: ServiceMessage) {
    super('UnauthorizedError', inEnglish({ key: text }));
  }
}

async function logIn(ctx: Context, services: HttpServices): Promise<Requester> {
  const { requesters, config } = services;
  checkBody(ctx, config.limits.bodySize);
  await checkRawBody(ctx, config.limits.bodySize);
  const fields = formFields(ctx) as Record<string, unknown>;
  requireOwnForm(ctx, requesters);
  requesters.checkLoginForm(ctx, csrfOf(ctx));
  const { identifier, password } = fields;
  if (typeof identifier !== 'string' || typeof password !== 'string' || identifier === '' || password === '')
    throw new WrongLogin('login_incomplete');
  const { requester, cookie } = await requesters.login(ctx, identifier, password).catch((error: unknown) => {
    if (isAppsError(error, 'UnauthorizedError')) throw new WrongLogin('login_wrong');
    throw error;
  });
  ctx.append('Set-Cookie', cookie);
  // No password reaches logic: from here on the request has the kept fields only.
  (ctx.request as { body?: unknown }).body = { ...unkept(fields), _csrf: requesters.csrf.issue(requester) };
  return requester;
}

/** Answers with the login form where a login would help; false for any other error. */
export async function offerLogin(request: Reached, error: unknown): Promise<boolean> {
  const { ctx, services, site } = request;
  if (!site || !keepsEntered(request)) return false;
  // A form with files may not have been read yet; it is no login form.
  if (defersForm(ctx) && !(isAppsError(error) && asksForLogin(error, false))) return false;
  const fields = await sentFields(ctx, services);
  if (!isAppsError(error) || !asksForLogin(error, isLogin(fields))) return false;
  // What a page of another address has sent is not shown.
  const kept = services.requesters.takesCookies(ctx) ? keptFields(fields) : [];
  const hasEnded = error.headers['Set-Cookie'] !== undefined;
  const problem = error instanceof WrongLogin ? error.text : hasEnded ? 'login_ended' : undefined;
  const note = kept ? keptText(ctx) : 'login_loses';
  await showLogin(ctx, services, site, {
    next: undefined,
    identifier: isLogin(fields) ? fields.identifier : undefined,
    error,
    ...(problem && { problem }),
    ...(!isLogin(fields) && { note }),
    inline: {
      action: sentAddress(ctx, services.baseUrl()),
      hidden: [[LOGIN, '1'], ...(kept ?? []).map(([name, value]): [string, string] => [keptName(name), value])],
    },
  });
  return true;
}

/**
 * A form that sends again what was posted, for the page of an error that may pass: what was entered is not lost
 * (docs/reference/layouts.md#posting-a-form). '' where a page of another address has sent it.
 */
export async function formAgain(request: Reached, { say }: PageLocale): Promise<string> {
  const { ctx, services } = request;
  if (!keepsEntered(request) || !services.requesters.takesCookies(ctx)) return '';
  const fields = fieldsToSend(await sentFields(ctx, services));
  if (!fields) return '';
  const hidden = fields.map(([name, value]) => `<input${attributes({ type: 'hidden', name, value })}>`).join('');
  const note = say(defersForm(ctx) ? 'sent_kept_no_files' : 'sent_kept');
  const action = sentAddress(ctx, services.baseUrl());
  return `\n<form${attributes({ method: 'post', action })}>${hidden}<p>${escapeHtml(note)}</p><p><button type="submit">${escapeHtml(say('send_again'))}</button></p></form>`;
}

/** Whether a login would help; a login form that was refused is shown again, too. */
function asksForLogin(error: AppsError, isLoginForm: boolean): boolean {
  const { name, cause } = error;
  if (isLoginForm && (name === 'RateLimitError' || name === 'CsrfError')) return true;
  return name === 'UnauthorizedError' || isAppsError(cause, 'UnauthorizedError');
}

const keptText = (ctx: Context): ServiceMessage => (defersForm(ctx) ? 'login_keeps_no_files' : 'login_keeps');

/** The fields of the request; none where its body is not right. */
async function sentFields(ctx: Context, services: HttpServices): Promise<Record<string, unknown>> {
  const { bodySize } = services.config.limits;
  try {
    if (defersForm(ctx)) {
      const isUnread = !ctx.req.readableDidRead && services.requesters.takesCookies(ctx);
      if (isUnread) await readFieldsOnly(ctx, services);
    } else {
      checkBody(ctx, bodySize);
      await checkRawBody(ctx, bodySize);
    }
    return formFields(ctx) as Record<string, unknown>;
  } catch {
    return {};
  }
}
