import {
  attributes,
  type Block,
  confirmRecord,
  deleteRecord,
  escapeHtml,
  FormRefusal,
  localeOf,
  nameOf,
  ownAddress,
  type Run,
  receiptAddress,
  withRun,
} from '../../apps';
import { notFound } from '../../common/errors';
import { isUnconfirmed, STATE } from '../../indexes';
import type { Link } from '../../links/types';
import type { StoredRecord } from '../../records/types';
import { formFields } from '../request/body';
import type { Exchange, TargetOf } from '../request/exchange';
import { answerHtml } from './page-handlers';

type ConfirmExchange = Exchange<TargetOf<'confirm'>>;

/** The same for a token that was never made, for one that was revoked, and for a record that is gone. */
const nothing = () => notFound('There is nothing at this address');

/** The record of the request's link. NotFoundError for any other token. */
async function linkOf({ services, site, app, target }: ConfirmExchange): Promise<Link> {
  const link = await services.links.find({ site: site.id, app: app.id }, 'confirm', target.token);
  if (!link) throw nothing();
  return link;
}

interface Found {
  record: StoredRecord;
  /** Null where the theme no longer has it, or it is broken. */
  block: Block | null;
}

async function found(run: Run, { key, id, seq }: Link): Promise<Found> {
  const record = await run.unit.get(key, id);
  if (record?.seq !== seq) throw nothing();
  const block = run.app.blocks.get(String(record.items.block));
  return { record, block: block && !block.error ? block : null };
}

/** What the link's page says of a record: whether it waits for the button, has its place, or waits for one. */
type State = 'unconfirmed' | 'confirmed' | 'waiting';

const stateOf = ({ items }: StoredRecord): State =>
  isUnconfirmed(items) ? 'unconfirmed' : items[STATE] === 'waiting' ? 'waiting' : 'confirmed';

interface Confirmation {
  state: State;
  /** The title of the record's block. */
  name: string;
  /** The element with the address by its label, and the address in part; null where the block has no receipt any more. */
  address: { label: string; text: string } | null;
  own: string | null;
}

/** An address as its holder knows it again, in an open page that others may see: `n…@example.org`. */
const inPart = (address: string): string => `${[...address][0]}…${address.slice(address.lastIndexOf('@'))}`;

function addressOf({ record, block }: Found): Confirmation['address'] {
  const receipt = block?.definition.receipt;
  const address = receipt ? receiptAddress(receipt, record) : null;
  if (!receipt || address === null) return null;
  return { label: block.definition.elements.get(receipt.to)?.label ?? receipt.to, text: inPart(address) };
}

async function read(exchange: ConfirmExchange): Promise<Confirmation> {
  const { services, site, visit, app } = exchange;
  const link = await linkOf(exchange);
  const { value } = await withRun(services, visit, app, (run) => found(run, link));
  const { record, block } = value;
  const [own] = await services.links.ofRecord({ ...link, purpose: 'mine' });
  return {
    state: stateOf(record),
    name: block ? nameOf(block) : app.id,
    address: addressOf(value),
    own: own ? ownAddress({ services, site, app }, own.linkId) : null,
  };
}

/** The state of the record. */
export async function readConfirmation(exchange: ConfirmExchange): Promise<void> {
  const { state } = await read(exchange);
  exchange.ctx.body = { state };
}

const WITHDRAW = '_withdraw';

const paragraph = (text: string): string => `<p>${escapeHtml(text)}</p>`;

const button = (label: string, more: Readonly<Record<string, string>> = {}): string =>
  `<button${attributes({ type: 'submit', class: 'apps-action', ...more })}>${escapeHtml(label)}</button>`;

const aboutOf = (address: Confirmation['address']): string =>
  address === null ? '' : paragraph(`${address.label}: ${address.text}`);

const pageAddress = ({ services, site, app, target }: ConfirmExchange): string =>
  services.sites.urls.link(site, app.id, 'confirm', target.token);

const formOf = (exchange: ConfirmExchange, buttons: string): string =>
  `<form class="apps-own" method="post" action="${escapeHtml(pageAddress(exchange))}"><p>${buttons}</p></form>`;

/** The page with the button. Programs that look at the links of mails open it: that changes nothing. */
export const showConfirmation = (exchange: ConfirmExchange): Promise<void> => showPage(exchange, []);

/** @param errors why the record was not confirmed */
async function showPage(exchange: ConfirmExchange, errors: readonly string[]): Promise<void> {
  const { visit, app } = exchange;
  const { state, name, address, own } = await read(exchange);
  const { say } = await localeOf({ visit, app });
  const form = () =>
    formOf(
      exchange,
      `${button(say('confirm_button'))} ${button(say('own_withdraw'), { name: WITHDRAW, value: 'ask' })}`,
    );
  const link =
    own === null
      ? ''
      : `${paragraph(say('own_link'))}<p><a href="${escapeHtml(own)}">${escapeHtml(say('own_open'))}</a></p>`;
  const alert = errors.map((text) => `<p role="alert">${escapeHtml(text)}</p>`).join('');
  const main = {
    unconfirmed: () => alert + paragraph(say('confirm_ask', { name })) + aboutOf(address) + form(),
    confirmed: () => paragraph(say('confirm_done')) + link,
    waiting: () => paragraph(say('confirm_done')) + paragraph(say('place_on_list')) + link,
  }[state]();
  await answerHtml(exchange, { title: name, main: `<h1>${escapeHtml(name)}</h1>${main}` });
}

/** The page that asks whether the record is to be deleted. One that was confirmed meanwhile is deleted by its own link alone. */
async function askWithdrawal(exchange: ConfirmExchange): Promise<void> {
  const { visit, app } = exchange;
  const { state, name, address } = await read(exchange);
  if (state !== 'unconfirmed') return showPage(exchange, []);
  const { say } = await localeOf({ visit, app });
  const cancel = `<a href="${escapeHtml(pageAddress(exchange))}">${escapeHtml(say('cancel'))}</a>`;
  const form = formOf(exchange, `${button(say('own_withdraw'), { name: WITHDRAW, value: 'yes' })} ${cancel}`);
  const main = `<h1>${escapeHtml(name)}</h1>${paragraph(say('own_withdraw_ask'))}${aboutOf(address)}${form}`;
  await answerHtml(exchange, { title: name, main });
}

/** Confirms the record of the link, once: a second time changes nothing. ConflictError and FormRefusal where there is no place. */
async function confirmOnce(exchange: ConfirmExchange): Promise<void> {
  const { services, visit, app } = exchange;
  const link = await linkOf(exchange);
  await withRun(
    services,
    visit,
    app,
    async (run) => {
      const { record, block } = await found(run, link);
      if (isUnconfirmed(record.items)) await confirmRecord(run, block, record);
    },
    { recordId: link.id },
  );
}

/**
 * Deletes a record that was not confirmed, with its link.
 * @param what of another one: `link` ends its link, `nothing` changes nothing
 */
async function withdraw(exchange: ConfirmExchange, what: 'link' | 'nothing'): Promise<'deleted' | 'revoked' | null> {
  const { services, visit, app } = exchange;
  const link = await linkOf(exchange);
  const { value } = await withRun(services, visit, app, async (run) => {
    const { record, block } = await found(run, link);
    const waits = isUnconfirmed(record.items);
    if (!waits && what === 'nothing') return null;
    run.unit.atCommit(services.links.revoke(link.linkId));
    if (!waits) return 'revoked' as const;
    await deleteRecord(run, block, record);
    return 'deleted' as const;
  });
  return value;
}

/** The button that withdraws: its question, or after that the deletion. */
async function withdrawByForm(exchange: ConfirmExchange, answer: unknown): Promise<void> {
  const { visit, app } = exchange;
  if (answer !== 'yes') return askWithdrawal(exchange);
  if ((await withdraw(exchange, 'nothing')) === null) return showPage(exchange, []);
  const title = (await localeOf({ visit, app })).say('own_withdrawn');
  await answerHtml(exchange, { title, main: `<h1>${escapeHtml(title)}</h1>` });
}

/** `POST` with JSON. */
export async function confirmByJson(exchange: ConfirmExchange): Promise<void> {
  await confirmOnce(exchange);
  exchange.ctx.body = { success: 'confirmed' };
}

/** A button of the page. Where there is no place, the page says so, and the record waits on. */
export async function confirmByForm(exchange: ConfirmExchange): Promise<void> {
  const { ctx } = exchange;
  const fields = formFields(ctx);
  if (Object.hasOwn(fields, WITHDRAW)) return withdrawByForm(exchange, fields[WITHDRAW]);
  try {
    await confirmOnce(exchange);
  } catch (error) {
    if (!(error instanceof FormRefusal)) throw error;
    await showPage(
      exchange,
      error.errors.map(({ message }) => message),
    );
    ctx.status = error.status;
    return;
  }
  await showPage(exchange, []);
}

/** `DELETE`: the record that waits for its confirmation, else the link alone. */
export async function deleteConfirmation(exchange: ConfirmExchange): Promise<void> {
  exchange.ctx.body = { success: await withdraw(exchange, 'link') };
}

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
