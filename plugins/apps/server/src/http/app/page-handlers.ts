import { LRUCache } from 'lru-cache';
import {
  type App,
  attributes,
  type Block,
  type Displayed,
  displayBlock,
  draftAddress,
  escapeHtml,
  hidesUnconfirmed,
  localeOf,
  type OwnLink,
  ownAddress,
  type PageContent,
  permittedBlock,
  permittedRecord,
  type Ran,
  type ReservedField,
  type Run,
  requireRight,
  type SavedDraft,
  type Submitted,
  scriptUrl,
  shownBlock,
  shownElement,
  shownRecord,
  unlessHidden,
  visibleIn,
  withFlash,
  withRun,
} from '../../apps';
import { seesRecords } from '../../auth';
import type { FlashMessage } from '../../auth/types';
import { AppsError, definitionError, missing, notFound } from '../../common/errors';
import { recordIdProblem } from '../../common/record-id';
import { readableMinute } from '../../common/time/moments';
import type { StoredRecord } from '../../records/types';
import type { Site } from '../../sites/types';
import { formFields } from '../request/body';
import type { Exchange, HttpServices, TargetOf } from '../request/exchange';
import { isFollowed, wantsFragment } from '../request/negotiate';
import { SAVED } from '../request/operations';
import { answerTyped, applyLogicResponse, redirect, setCacheHeaders } from '../response/logic-response';
import { bareDocument, inTheme, isShownInTheme, itemList, thanks } from '../response/pages';
import { recordUrl, withId } from './list';

/** The buttons below an own record that deletes it, and that ends its link. */
export const WITHDRAW = '_withdraw' satisfies ReservedField;
export const REVOKE = '_revoke' satisfies ReservedField;

/** A button of an own record's page. @param value `ask` before its question, `yes` as the answer to it */
export const ownButton = (name: string, value: 'ask' | 'yes', label: string): string =>
  `<button${attributes({ type: 'submit', class: 'apps-action', name, value })}>${escapeHtml(label)}</button>`;

/** A form of its own beside that of the block, at the address of the link. */
export const ownForm = ({ visit }: Pick<Exchange, 'visit'>, { address }: OwnLink, main: string): string =>
  `<form class="apps-own" method="post" action="${escapeHtml(address)}"><input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}">${main}</form>`;

/** What stands below an own record: until when it can be changed, and buttons to withdraw it and to end its link. */
export async function ownControls(exchange: Pick<Exchange, 'visit' | 'app'>, own: OwnLink): Promise<string> {
  const locale = await localeOf(exchange);
  const { say } = locale;
  const moment = own.until === null ? null : readableMinute(own.until, locale);
  const isOpen = own.edit || own.delete;
  const text = isOpen ? (moment === null ? '' : say('own_until', { moment })) : say('own_over');
  const withdraw = own.delete ? ownButton(WITHDRAW, 'ask', say('own_withdraw')) : '';
  const note = text === '' ? '' : `<p class="apps-note">${escapeHtml(text)}</p>`;
  const buttons = [withdraw, ownButton(REVOKE, 'ask', say('own_revoke'))].filter(Boolean).join(' ');
  return ownForm(exchange, own, `${note}<p>${buttons}</p>`);
}

/** The block that answers a view's address. */
export interface ViewOwner {
  app: App;
  block: Block;
}

export type Views = ReadonlyMap<string, ViewOwner>;

/** The site's views by their ids. First block by ids of app and block wins; the others are logged once. */
export async function viewsOf(services: HttpServices, site: Site): Promise<Views> {
  const views = new Map<string, ViewOwner>();
  for (const id of [...(await services.sites.apps(site))].sort()) {
    const app = await services.loadApp(site, id);
    for (const block of app?.blocks.values() ?? []) {
      const view = block.definition.view?.id;
      if (!app || view === undefined) continue;
      if (!views.has(view)) views.set(view, { app, block });
      else warn(services, site, viewProblem(views, app, block) as AppsError, app);
    }
  }
  return views;
}

/** The DefinitionError of a block whose view belongs to an earlier block; null otherwise. */
export function viewProblem(views: Views, app: App, block: Block): AppsError | null {
  const view = block.definition.view?.id;
  const owner = view === undefined ? undefined : views.get(view);
  if (!owner || (owner.app.id === app.id && owner.block.id === block.id)) return null;
  const named = (one: ViewOwner) => `${one.app.id}/blocks/${one.block.id}`;
  const file = [`blocks/${block.id}.yaml`, `blocks/${block.id}.yml`].find((path) => app.folder.files.has(path)) ?? '';
  const message = `The view "${view}" of ${named({ app, block })} is declared by ${named(owner)} too, which comes first and has it`;
  return definitionError(message, { file });
}

/** Messages that were logged; bounded, so that years of edits do not fill the memory. */
const logged = new LRUCache<string, true>({ max: 1_000 });

function warn({ logger }: HttpServices, site: Site, { message }: AppsError, { folder }: App): void {
  const text = `[apps] ${site.id}, theme ${folder.themeId}: ${message}`;
  if (logged.has(text)) return;
  logged.set(text, true);
  logger.warn(text);
}

type Done = Omit<Ran<unknown>, 'value'>;

/** Answers with a displayed block, with the buttons of an own record below it, or the redirect of its logic. */
export async function answerDisplayed(exchange: Exchange, block: string, shown: Displayed, done: Done): Promise<void> {
  if ('redirect' in shown) return redirect(exchange, shown.redirect, done);
  const { own } = exchange.visit;
  // In place of a form alone the script leaves what is below it.
  const below = own && !wantsFragment(exchange.ctx) ? await ownControls(exchange, own) : '';
  await answerHtml(exchange, { title: shown.title, main: shown.html + below }, block, done);
  applyLogicResponse(exchange, done, { isPage: true });
}

/** Answers with a page: the form alone if requested, else in the theme or bare. */
export async function answerHtml(exchange: Exchange, page: PageContent, block?: string, done?: Done): Promise<void> {
  const { ctx, services, site, visit } = exchange;
  // A whole page tells the browser script of a redirect also where the form was sent to the same address.
  const alone = wantsFragment(ctx) && !isFollowed(ctx);
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('X-Requested-With');
  visit.flash?.add(done?.flashes ?? []);
  const whole = { ...page, canonical: await canonicalAddress(exchange, block), hasFlash: true };
  if (!alone && isShownInTheme(exchange, block)) {
    ctx.body = await inTheme(exchange, whole, done);
    return;
  }
  const main = withFlash(page.main, (await visit.flash?.take()) ?? '');
  if (alone) ctx.body = main;
  else ctx.body = bareDocument({ ...whole, main, script: await scriptUrl(services, site), lang: site.locale });
}

/** Answers a posted form that was not refused. */
export async function answerSubmitted(
  exchange: Exchange,
  block: string,
  submitted: Submitted,
  done: Done,
): Promise<void> {
  const { ctx, json } = exchange;
  if (json) ctx.set('Cache-Control', 'private, no-store');
  switch (submitted.kind) {
    case 'shown':
      if (!json || 'redirect' in submitted) return answerDisplayed(exchange, block, submitted, done);
      ctx.body = { html: submitted.html };
      return applyLogicResponse(exchange, done, { isPage: true });
    case 'saved': {
      const path = recordUrl(exchange, submitted.record.id);
      if (!json) {
        const link = linkAddress(exchange, submitted.link);
        const said = await withLink(exchange, await confirming(exchange, submitted, done.flashes), link);
        if (submitted.redirect !== null) return redirect(exchange, submitted.redirect, { ...done, flashes: said });
        // The next step is in the mail.
        const flashes = submitted.isUnconfirmed ? said : await thanking(exchange, block, said);
        return redirect(exchange, pageAfterSaving(exchange, submitted, path), { ...done, flashes });
      }
      ctx.status = submitted.created ? 201 : 200;
      if (submitted.created) ctx.set('Location', path);
      ctx.body = submitted.created
        ? {
            path,
            id: submitted.record.id,
            ...ownLinkKey(exchange, submitted.link),
            ...stateKey(submitted),
            success: 'created',
          }
        : { success: 'updated' };
      return;
    }
    case 'draft':
      return answerDraft(exchange, submitted, done);
    case 'deleted': {
      if (json) ctx.body = { success: 'deleted' };
      else redirect(exchange, submitted.redirect ?? (await blockHome(exchange, block)), done);
      return;
    }
    case 'edit':
      throw new AppsError('BadRequestError', 'Only a record can be edited');
  }
}

/** Answers with the page of a draft that was saved; a JSON client gets its address. */
async function answerDraft(
  exchange: Exchange,
  { draftId, endsAt, created, isMailed }: SavedDraft,
  done: Done,
): Promise<void> {
  const { ctx, services, site, visit, app, json } = exchange;
  const link = draftAddress({ services, site, app }, draftId);
  if (json) {
    ctx.status = created ? 201 : 200;
    const mailed = isMailed === null ? {} : { mailed: isMailed };
    ctx.body = { link, until: new Date(endsAt).toISOString(), ...mailed, success: created ? 'created' : 'updated' };
    return;
  }
  const { say } = await localeOf({ visit, app });
  const mail = isMailed === null ? [] : [{ text: say(isMailed ? 'draft_mailed' : 'draft_not_mailed') }];
  redirect(exchange, link, { ...done, flashes: [...done.flashes, { text: say('draft_saved') }, ...mail] });
}

/** The address of the link with this id; null without one. */
export function linkAddress({ services, site, app }: Exchange, linkId: string | null): string | null {
  return linkId === null ? null : ownAddress({ services, site, app }, linkId);
}

/** What an answer in JSON says of the link of a new record. */
export function ownLinkKey(exchange: Exchange, linkId: string | null): { link?: string } {
  const link = linkAddress(exchange, linkId);
  return link === null ? {} : { link };
}

/** What an answer in JSON says of a new record that waits until it is confirmed. */
export const stateKey = ({ isUnconfirmed }: { isUnconfirmed: boolean }): { state?: 'unconfirmed' } =>
  isUnconfirmed ? { state: 'unconfirmed' } : {};

/** The messages of logic, and another one where a mail was sent whose link must be opened. */
async function confirming(
  { visit, app }: Exchange,
  { isUnconfirmed }: { isUnconfirmed: boolean },
  said: readonly FlashMessage[],
): Promise<readonly FlashMessage[]> {
  return isUnconfirmed ? [...said, { text: (await localeOf({ visit, app })).say('confirm_sent') }] : said;
}

/** The messages of logic with the address of the new record's link, which is another message where none has `{link}`. */
async function withLink(
  { visit, app }: Exchange,
  said: readonly FlashMessage[],
  link: string | null,
): Promise<readonly FlashMessage[]> {
  if (link === null) return said;
  const messages = said.map((message) => ({ ...message, text: message.text.replaceAll('{link}', link) }));
  if (said.some(({ text }) => text.includes('{link}'))) return messages;
  const { say } = await localeOf({ visit, app });
  const thanks = said.length > 0 ? [] : [{ text: say('thanks_saved') }];
  return [...thanks, ...messages, { text: say('own_link'), to: new URL(link).pathname, label: say('own_open') }];
}

/** The messages of the page after a save: it thanks, unless something else was said, and the last that leads nowhere leads on. */
async function thanking(
  exchange: Exchange,
  block: string,
  said: readonly FlashMessage[],
): Promise<readonly FlashMessage[]> {
  const { visit, app } = exchange;
  const { say } = await localeOf({ visit, app });
  const messages: readonly FlashMessage[] = said.length > 0 ? said : [{ text: say('thanks_saved') }];
  const to = new URL(await blockHome(exchange, block)).pathname;
  const last = messages.findLastIndex((message) => message.to === undefined);
  return messages.map((message, index) => (index === last ? { ...message, to } : message));
}

/** The record's page; visitors without the right to read it get a thank-you there, and nothing of the record. */
function pageAfterSaving(
  { rights, visit, app }: Exchange,
  { record, isUnconfirmed }: { record: Pick<StoredRecord, 'creator'>; isUnconfirmed: boolean },
  recordPage: string,
): string {
  if (visit.own) return visit.own.address;
  const isHidden = isUnconfirmed && hidesUnconfirmed({ app, rights });
  return rights.view(record.creator) && !isHidden ? recordPage : `${recordPage}?${SAVED}`;
}

/** Whether a page thanks and shows nothing of its record: after a save, to those who may not see that, or not yet. */
async function thanksOnly({ ctx, services, site, app, rights, target }: RecordExchange): Promise<boolean> {
  if (!new URLSearchParams(ctx.querystring).has(SAVED)) return false;
  if (!seesRecords(rights)) return true;
  if (!hidesUnconfirmed({ app, rights })) return false;
  const record = await services.store.get({ site: site.id, app: app.id }, target.id);
  return unlessHidden({ app, rights }, record) === null;
}

/** The address of a page without its query; of a block the one of its view (docs/reference/site.md#titles-and-addresses). */
async function canonicalAddress(exchange: Exchange, block: string | undefined): Promise<string | undefined> {
  const { target, visit } = exchange;
  // A link is for its holder alone.
  if (visit.own || visit.draft) return undefined;
  if (target.kind === 'record') return recordUrl(exchange, target.id);
  return block === undefined ? undefined : blockHome(exchange, block);
}

/** The address of the view that the block is, else its own. */
export async function blockHome({ services, site, app, visit }: Exchange, block: string): Promise<string> {
  const { urls } = services.sites;
  const view = app.blocks.get(block)?.definition.view?.id;
  const owner = view === undefined ? undefined : (await viewsOf(services, site)).get(view);
  return view !== undefined && owner?.app.id === app.id && owner.block.id === block
    ? urls.view(site, view, visit.contentPath)
    : urls.block(site, app.id, block, visit.contentPath);
}

/**
 * A trailing `/edit` means edit mode unless a record with that whole id exists
 * (docs/reference/addresses.md#record-ids).
 */
export async function addressedRecord(
  run: Run,
  exchange: Exchange<TargetOf<'record'>>,
): Promise<{ record: StoredRecord; edit: boolean }> {
  const { id, edit } = exchange.target;
  const key = { site: exchange.site.id, app: exchange.app.id };
  requireRight(run, seesRecords(run.rights), 'see this page');
  // With `/edit` the longest ids exceed the limit of an id.
  const found = edit && recordIdProblem(id) ? null : await run.unit.get(key, id, run.rights.viewOwn ?? undefined);
  const whole = visibleIn(run, found);
  if (whole || !edit) {
    if (!whole) throw notFound(missing.record(id, exchange.app.id));
    return { record: whole, edit: false };
  }
  const short = id.replace(/\/edit$/, '');
  return {
    record: await permittedRecord(run, short, (creator) => run.rights.edit(creator), 'change this'),
    edit: true,
  };
}

/** The record's block if the theme still has it; a record stays accessible without its block. */
export function blockOfRecord(run: Run, record: StoredRecord): Block | null {
  const { block } = record.items;
  return typeof block === 'string' && run.app.blocks.has(block) ? permittedBlock(run, block) : null;
}

type BlockExchange = Exchange<TargetOf<'block'>>;
type RecordExchange = Exchange<TargetOf<'record'>>;
type ElementExchange = Exchange<TargetOf<'element'>>;

/** A block's page, at its own address or a view's. */
export async function showBlock(exchange: BlockExchange): Promise<void> {
  const { services, visit, app, target } = exchange;
  const done = await shownBlock(services, visit.forApp(app.id), app, target.block);
  if (app.settings.debug) setCacheHeaders(exchange.ctx, done.cache);
  await answerDisplayed(exchange, target.block, done.value, done);
}

/**
 * A record's page, with the block it was created with, or a list of its items if it has no block
 * (docs/reference/layouts.md#pages-of-blocks-and-records).
 */
export async function showRecord(exchange: RecordExchange): Promise<void> {
  const { services, visit, app } = exchange;
  if (await thanksOnly(exchange)) {
    const locale = await localeOf({ visit, app });
    const said = (await visit.flash?.take()) ?? '';
    return answerHtml(exchange, { title: locale.say('thanks'), main: thanks(locale, said) });
  }
  const done = await withRun(services, visit, app, async (run) => {
    const { record, edit } = await addressedRecord(run, exchange);
    const block = blockOfRecord(run, record);
    if (edit && !block) throw notFound(`The record "${record.id}" has no block to edit it with`);
    if (!block) {
      const items = withId(await shownRecord(run, record));
      return { items: { title: record.id, main: itemList(await localeOf(run), record.id, items) } };
    }
    return { block: block.id, shown: await displayBlock(run, block, { record, mode: edit ? 'input' : 'text' }) };
  });
  const { items, block, shown } = done.value;
  if (shown) await answerDisplayed(exchange, block, shown, done);
  else await answerHtml(exchange, items, undefined, done);
}

/** An element by itself: BASIC's HTML as a fragment, the text of an input; an action redirects to its block's page. */
export async function showElement(exchange: ElementExchange): Promise<void> {
  const { ctx, services, site, visit, app, target } = exchange;
  // A body that logic could not read as a form is refused.
  if (ctx.method === 'POST') formFields(ctx);
  const { ran: done, cache } = await shownElement(services, visit, app, target);
  if (app.settings.debug) setCacheHeaders(ctx, cache);
  const { value, role, leadsTo } = done.value;
  if (role === 'action') {
    const back = services.sites.urls.block(site, app.id, target.block, visit.contentPath);
    return redirect(exchange, leadsTo ?? back, done);
  }
  if (done.response.type) answerTyped(exchange, done.response.type, value);
  else {
    // Only BASIC is HTML: the value of an input is text that a visitor has entered.
    ctx.type = typeof value !== 'string' ? 'application/json' : role === 'html' ? 'text/html' : 'text/plain';
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = typeof value === 'string' ? value : JSON.stringify(value);
  }
  applyLogicResponse(exchange, done);
}
