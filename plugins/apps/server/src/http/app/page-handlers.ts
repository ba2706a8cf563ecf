import {
  displayBlock,
  localeOf,
  shownBlock,
  shownElement,
  shownRecord,
  takePending,
  type Visit,
  withRun,
} from '../../apps';
import { seesRecords } from '../../auth';
import { notFound } from '../../common/errors';
import type { Exchange, TargetOf } from '../request/exchange';
import { answerTyped, applyLogicResponse, CACHE_HEADER, redirect } from '../response/logic-response';
import { itemList, thanks } from '../response/pages';
import { withId } from './list';
import { answerDisplayed, answerHtml, isAfterSaving } from './page-answers';
import { addressedRecord, blockOfRecord } from './record-pages';

type BlockExchange = Exchange<TargetOf<'block'>>;
type RecordExchange = Exchange<TargetOf<'record'>>;
type ElementExchange = Exchange<TargetOf<'element'>>;

/** A block's page, at its own address or a view's. */
export async function showBlock(exchange: BlockExchange): Promise<void> {
  const { services, visit, app, target } = exchange;
  // Log entries of other apps are left to their blocks, which the theme may embed in this page.
  const own: Visit = { ...visit, pendingLog: takePending(visit, app.id) };
  const done = await shownBlock(services, own, app, target.block).catch((error) => {
    visit.failedLog = own.failedLog;
    throw error;
  });
  if (app.settings.debug) exchange.ctx.set(CACHE_HEADER, done.cache);
  await answerDisplayed(exchange, target.block, done.value, done);
}

/**
 * A record's page, with the block it was created with, or a list of its items if it has no block
 * (docs/reference/layouts.md#pages-of-blocks-and-records).
 */
export async function showRecord(exchange: RecordExchange): Promise<void> {
  const { services, visit, app, rights } = exchange;
  if (!seesRecords(rights) && isAfterSaving(exchange)) {
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
  const { ran: done, cache } = await shownElement(services, visit, app, target);
  if (app.settings.debug) ctx.set(CACHE_HEADER, cache);
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
