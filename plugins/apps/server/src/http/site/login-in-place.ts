import type { Context } from 'koa';
import { attributes, escapeHtml, inEnglish, type PageLocale, type ServiceMessage } from '../../apps';
import type { Requester } from '../../auth/types';
import { AppsError, isAppsError } from '../../common/errors';
import { checkBody, checkRawBody, defersForm, formFields } from '../request/body';
import { csrfOf, requireOwnForm } from '../request/csrf';
import type { HttpServices } from '../request/exchange';
import { sentAddress } from '../request/locate';
import { wantsFragment } from '../request/negotiate';
import { fieldsToSend, isLogin, keptFields, keptName, LOGIN, unkept } from '../request/page-form';
import { readFieldsOnly } from '../request/read-body';
import type { Located, Reached } from '../request/stages';
import { showLogin } from './login';

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
