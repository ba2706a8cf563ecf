import { attributes, escapeHtml, localeOf } from '../../apps';
import { notFound } from '../../common/errors';
import { formFields } from '../request/body';
import type { Exchange, TargetOf } from '../request/exchange';
import { answerHtml } from './page-handlers';

type RefusalExchange = Exchange<TargetOf<'unsubscribe'>>;

/** The address that the request's token stands for, as a digest. NotFoundError for any other token. */
function digestOf({ services, site, target }: RefusalExchange): string {
  const digest = services.receipts.read(site.id, target.token);
  if (digest === null) throw notFound('There is nothing at this address');
  return digest;
}

/** Whether the address gets no more receipts of the site. */
export async function readRefusal(exchange: RefusalExchange): Promise<void> {
  const { ctx, services, site } = exchange;
  ctx.body = { refused: await services.receipts.isRefused(site.id, digestOf(exchange)) };
}

/** The field of the button that has mails sent again. */
const AGAIN = '_again';

/** The page with the button. */
export async function showRefusal(exchange: RefusalExchange): Promise<void> {
  const { services, site, visit, app, target } = exchange;
  const isRefused = await services.receipts.isRefused(site.id, digestOf(exchange));
  const { say } = await localeOf({ visit, app });
  const of = { site: site.title };
  const title = say('optout_title', of);
  const address = services.sites.urls.link(site, app.id, 'unsubscribe', target.token);
  const name = isRefused ? { name: AGAIN, value: 'yes' } : {};
  const label = say(isRefused ? 'optout_undo' : 'optout_button');
  const button = `<button${attributes({ type: 'submit', class: 'apps-action', ...name })}>${escapeHtml(label)}</button>`;
  const text = say(isRefused ? 'optout_done' : 'optout_ask', of);
  const main = `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p><form class="apps-own" method="post" action="${escapeHtml(address)}"><p>${button}</p></form>`;
  await answerHtml(exchange, { title, main });
}

async function refuse(exchange: RefusalExchange, isOn: boolean): Promise<void> {
  const { services, site, visit } = exchange;
  const digest = digestOf(exchange);
  if (!visit.dry) await services.receipts.refuse(site.id, digest, isOn);
}

/** A button of the page, or of a mail program (RFC 8058), whose request has no cookie and no token of a form. */
export async function postRefusal(exchange: RefusalExchange): Promise<void> {
  await refuse(exchange, !Object.hasOwn(formFields(exchange.ctx), AGAIN));
  await showRefusal(exchange);
}

/** `POST` with JSON. */
export async function refuseByJson(exchange: RefusalExchange): Promise<void> {
  await refuse(exchange, true);
  exchange.ctx.body = { success: 'refused' };
}

/** `DELETE`: mails are sent again. */
export async function deleteRefusal(exchange: RefusalExchange): Promise<void> {
  await refuse(exchange, false);
  exchange.ctx.body = { success: 'deleted' };
}
