import type { Items } from '../../../../shared/json';
import {
  type App,
  type Block,
  deleteRecord,
  displayBlock,
  escapeHtml,
  type FormFields,
  localeOf,
  mayChange,
  type OwnLink,
  ownItems,
  ownLink,
  ownsByLink,
  type Run,
  readJsonForm,
  requireRight,
  submitBlock,
  withRun,
} from '../../apps';
import { setCookie } from '../../auth';
import { isAppsError, notFound } from '../../common/errors';
import type { StoredRecord } from '../../records/types';
import type { Site } from '../../sites/types';
import { formFields, jsonObject } from '../request/body';
import type { Exchange, HttpServices, TargetOf } from '../request/exchange';
import { redirect } from '../response/logic-response';
import { doneOnce, namedRequest } from './kept-answers';
import { answerDisplayed, answerHtml, blockHome, ownButton, ownForm, REVOKE, WITHDRAW } from './page-handlers';
import { answerPosted } from './posted-forms';

type OwnExchange = Exchange<TargetOf<'mine'>>;

/** The same for a token that was never made, and for one that was revoked. */
const nothing = () => notFound('There is nothing at this address');

/** What a request owns by the token in its address (docs/reference/definitions.md#corrections-by-a-link). NotFoundError for any other token. */
export async function ownOf(services: HttpServices, site: Site, app: App, token: string): Promise<OwnLink> {
  const key = { site: site.id, app: app.id };
  const link = await services.links.find(key, 'mine', token);
  const record = link && (await services.store.get(key, link.id));
  if (!link || record?.seq !== link.seq) throw nothing();
  const own = ownLink(services, { site, app, link, record, now: Date.now() });
  if (!own) throw nothing();
  return own;
}

/** The cookie by which a browser gets the private files of the records whose links it has opened: their addresses have no token. */
const OPENED = 'apps_opened';
const MAX_OPENED = 5;

const SEPARATOR = '.';

const openedIn = ({ ctx }: Pick<Exchange, 'ctx'>): string[] =>
  (ctx.cookies.get(OPENED) ?? '').split(SEPARATOR).filter(Boolean).slice(0, MAX_OPENED);

/** Lets the browser get the private files of the record of a link, until it is closed; of the latest links that it has opened. */
function noteOpened(exchange: OwnExchange): void {
  const { ctx, services, site, app, target } = exchange;
  if (!services.requesters.takesCookies(ctx)) return;
  const token = target.token;
  const tokens = [token, ...openedIn(exchange).filter((one) => one !== token)].slice(0, MAX_OPENED);
  const path = new URL(services.sites.urls.app(site, app.id), services.baseUrl()).pathname;
  const secure = ctx.secure || site.url.startsWith('https:');
  ctx.append('Set-Cookie', setCookie(OPENED, tokens.join(SEPARATOR), { path: `${path}/`, secure }));
}

/** Whether the browser has opened a link of one of the records, which holds still. */
export async function hasOpened(exchange: Exchange, records: readonly StoredRecord[]): Promise<boolean> {
  const { ctx, services, site, app } = exchange;
  if (!services.requesters.takesCookies(ctx)) return false;
  for (const token of openedIn(exchange)) {
    const own = await ownOf(services, site, app, token).catch((error) => {
      if (isAppsError(error, 'NotFoundError')) return null;
      throw error;
    });
    if (own && records.some((record) => ownsByLink({ own }, app.id, record))) return true;
  }
  return false;
}

/** The record of the request's link with its block. NotFoundError where it was deleted meanwhile, also if there is another one of its id. */
async function found(run: Run): Promise<{ record: StoredRecord; block: Block; own: OwnLink }> {
  const { own, site } = run.visit;
  const record = own && (await run.unit.get({ site: site.id, app: run.app.id }, own.record));
  const block = own && run.app.blocks.get(own.block);
  if (!own || !record || !block || record.items.block !== own.block || !ownsByLink({ own }, run.app.id, record))
    throw nothing();
  return { record, block, own };
}

/** The items that the block shows, as JSON; others are not for who has made the record. */
export async function readOwn(exchange: OwnExchange): Promise<void> {
  const { ctx, services, visit, app } = exchange;
  const { value } = await withRun(services, visit, app, async (run) => {
    const { record, block } = await found(run);
    return ownItems(run, block, record);
  });
  noteOpened(exchange);
  ctx.body = value;
}

/** The record's form while it may be changed, its text after that; below it what else the holder of the link can do. */
export async function showOwn(exchange: OwnExchange): Promise<void> {
  const { services, visit, app } = exchange;
  const done = await withRun(services, visit, app, async (run) => {
    const { record, block, own } = await found(run);
    return { block: block.id, shown: await displayBlock(run, block, { record, mode: own.edit ? 'input' : 'text' }) };
  });
  noteOpened(exchange);
  await answerDisplayed(exchange, done.value.block, done.value.shown, done);
}

/** What a posted form of the page asks for, besides saving: the button's name, and whether its question was answered. */
function wanted(fields: FormFields): { name: typeof WITHDRAW | typeof REVOKE; isSure: boolean } | null {
  for (const name of [WITHDRAW, REVOKE] as const)
    if (Object.hasOwn(fields, name)) return { name, isSure: fields[name] === 'yes' };
  return Object.hasOwn(fields, '_delete') ? { name: WITHDRAW, isSure: false } : null;
}

/** A posted form of the page: the block's own, or a button below it, whose question is asked first. */
export async function postToOwn(exchange: OwnExchange): Promise<void> {
  const { ctx, visit, app } = exchange;
  const asked = wanted(formFields(ctx));
  if (!asked) return answerPosted(exchange, found);
  // A form without a valid token carries out nothing.
  if (!asked.isSure || visit.staleForm) return ask(exchange, asked.name);
  const { services, site } = exchange;
  if (asked.name === WITHDRAW) {
    const done = await withdraw(exchange);
    return redirect(
      exchange,
      done.value ?? (await blockHome(exchange, visit.own?.block ?? '')),
      await thanked(exchange, done),
    );
  }
  await revoke(exchange);
  const { say } = await localeOf({ visit, app });
  const main = `<h1>${escapeHtml(say('own_revoked'))}</h1><p><a href="${escapeHtml(services.sites.urls.app(site, app.id))}">${escapeHtml(say('go_on'))}</a></p>`;
  await answerHtml(exchange, { title: say('own_revoked'), main });
}

async function thanked<T extends { flashes: readonly { text: string }[] }>(
  { visit, app }: Exchange,
  done: T,
): Promise<T> {
  const { say } = await localeOf({ visit, app });
  return done.flashes.length > 0 ? done : { ...done, flashes: [{ text: say('own_withdrawn') }] };
}

/** The page with the question of a button. */
async function ask(exchange: OwnExchange, name: typeof WITHDRAW | typeof REVOKE): Promise<void> {
  const { services, visit, app } = exchange;
  const done = await withRun(services, visit, app, async (run) => {
    const { record, own } = await found(run);
    if (name === WITHDRAW) requireRight(run, mayChange(run, 'delete', record), 'delete this');
    const { say } = await localeOf(run);
    const [title, yes] =
      name === WITHDRAW ? [say('own_withdraw_ask'), say('own_withdraw')] : [say('own_revoke_ask'), say('own_revoke')];
    const cancel = `<a href="${escapeHtml(own.address)}">${escapeHtml(say('cancel'))}</a>`;
    return {
      title,
      main: ownForm(run, own, `<h1>${escapeHtml(title)}</h1><p>${ownButton(name, 'yes', yes)} ${cancel}</p>`),
    };
  });
  await answerHtml(exchange, done.value, visit.own?.block, done);
}

/** Deletes the record, with its `on_delete`; returns where that redirects to. 401 or 403 where the link does not allow it now. */
function withdraw({ services, visit, app }: OwnExchange) {
  return withRun(services, visit, app, async (run) => {
    const { record, block, own } = await found(run);
    requireRight(run, mayChange(run, 'delete', record), 'delete this');
    run.unit.atCommit(services.links.revoke(own.linkId));
    return deleteRecord(run, block, record);
  });
}

async function revoke({ services, visit }: OwnExchange): Promise<void> {
  if (visit.own && !visit.dry) await services.links.now(services.links.revoke(visit.own.linkId));
}

/** `DELETE`: withdraws the record where the link allows that now; else it ends the link alone. */
export async function deleteOwn(exchange: OwnExchange): Promise<void> {
  const { ctx, visit } = exchange;
  const isWithdrawn = visit.own?.delete === true;
  if (isWithdrawn) await withdraw(exchange);
  else await revoke(exchange);
  ctx.body = { success: isWithdrawn ? 'deleted' : 'revoked' };
}

/** `PATCH` and `POST` with JSON: the items that are sent, as the form of the record would save them with the others. */
export async function changeOwn(exchange: OwnExchange): Promise<void> {
  const { ctx, services, visit, app } = exchange;
  const body = jsonObject(ctx);
  const work = async (run: Run): Promise<Items> => {
    const { record, block } = await found(run);
    requireRight(run, mayChange(run, 'edit', record), 'change this');
    const before = await ownItems(run, block, record, 'entered');
    const sent = await readJsonForm(run, block, { ...body, _save: '1' }, record, before);
    const never = () => requireRight(run, false, 'delete this');
    await submitBlock(sent.run, block, record, sent.form, { save: () => undefined, delete: never, asks: false });
    return {};
  };
  await doneOnce(exchange, namedRequest(exchange), (keeps) => withRun(services, visit, app, work, keeps));
  ctx.body = { success: 'updated' };
}
