import type { Context } from 'koa';
import {
  escapeHtml,
  html,
  type PageContent,
  type PageLocale,
  plainLocale,
  type ServiceMessage,
  siteLocale,
} from '../../apps';
import { safeNext } from '../../auth';
import type { Requester } from '../../auth/types';
import type { AppsError } from '../../common/errors';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';
import { sitePage } from '../response/in-theme';
import { inLanguage, problemText } from '../response/page-texts';
import { bareDocument } from '../response/pages';
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
export async function showLogin(ctx: Context, services: HttpServices, site: Site, form: LoginForm): Promise<void> {
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
export async function showLogout(
  ctx: Context,
  services: HttpServices,
  site: Site,
  requester: Requester,
): Promise<void> {
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
