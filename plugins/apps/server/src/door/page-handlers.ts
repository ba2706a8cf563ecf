import {
  type Block,
  blockAddress,
  computeElement,
  type Displayed,
  displayBlock,
  guarded,
  type PageContent,
  permittedBlock,
  type Ran,
  type Run,
  redirectOf,
  requireRight,
  type Submitted,
  shownBlock,
  submitBlock,
  takePending,
  type Visit,
  withRun,
} from '../apps';
import { AppsError } from '../errors';
import type { StoredRecord } from '../records/types';
import { formFields } from './body';
import type { Exchange, TargetOf } from './exchange';
import { inTheme, standsInTheme } from './in-theme';
import { recordUrl, withId } from './list';
import { answerTyped, applyLogicResponse, redirect } from './logic-response';
import { wantsFragment } from './negotiate';
import { bareDocument, itemList, thanks } from './pages';

type BlockExchange = Exchange<TargetOf<'block'>>;
type RecordExchange = Exchange<TargetOf<'record'>>;
type ElementExchange = Exchange<TargetOf<'element'>>;

type Done = Omit<Ran<unknown>, 'value'>;

/** A block's page, at its own address or a view's. */
export async function showBlock(exchange: BlockExchange): Promise<void> {
  const { services, visit, app, target } = exchange;
  // Log entries of other apps are for their blocks, which the theme may embed in this page.
  const own: Visit = { ...visit, pendingLog: takePending(visit, app.id) };
  const done = await shownBlock(services, own, app, target.block).catch((error) => {
    visit.failedLog = own.failedLog;
    throw error;
  });
  await answerDisplayed(exchange, target.block, done.value, done);
}

/** A posted form of a block without a record. */
export async function postBlock(exchange: BlockExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  const fields = formFields(ctx);
  const done = await withRun(services, visit, app, (run) =>
    submitBlock(run, permittedBlock(run, target.block), null, fields, {
      save: () => requireRight(run, run.rights.create, 'add records'),
      delete: () => undefined,
    }),
  );
  await answerSubmitted(exchange, target.block, done.value, done);
}

/** A record's page, with the block it was made with; its items where it has none (contract, section 10). */
export async function showRecord(exchange: RecordExchange): Promise<void> {
  const { services, visit, app, rights } = exchange;
  if (!rights.view && isAfterSaving(exchange)) {
    return answerHtml(exchange, { title: 'Thank you', main: thanks });
  }
  const done = await withRun(services, visit, app, async (run) => {
    const { record, edit } = await addressedRecord(run, exchange);
    const block = blockOfRecord(run, record);
    if (edit && !block) throw new AppsError('NotFoundError', `The record "${record.id}" has no block to edit it with`);
    if (!block) return { items: { title: record.id, main: itemList(record.id, withId(record)) } };
    return { block: block.id, shown: await displayBlock(run, block, { record, mode: edit ? 'input' : 'text' }) };
  });
  const { items, block, shown } = done.value;
  if (shown) await answerDisplayed(exchange, block, shown, done);
  else await answerHtml(exchange, items);
}

/** A posted form of a record: its actions, `_save`, `_edit`, `_delete`, each with the right that it needs. */
export async function postToRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, visit, app } = exchange;
  const fields = formFields(ctx);
  const done = await withRun(services, visit, app, async (run) => {
    const { record } = await addressedRecord(run, exchange);
    const block = blockOfRecord(run, record);
    if (!block) throw new AppsError('BadRequestError', `The record "${record.id}" has no block that takes a form`);
    const submitted = await submitBlock(run, block, record, fields, {
      save: () => requireRight(run, run.rights.edit(record.creator), 'change this record'),
      delete: () => requireRight(run, run.rights.delete(record.creator), 'delete this record'),
    });
    return { submitted, block: block.id, id: record.id };
  });
  const { submitted, block, id } = done.value;
  if (submitted.kind === 'edit') return redirect(exchange, `${recordUrl(exchange, id)}/edit`, done.console);
  await answerSubmitted(exchange, block, submitted, done);
}

/** An element by itself: BASIC's HTML as a fragment, the text of an input; an action goes back to its block's page. */
export async function showElement(exchange: ElementExchange): Promise<void> {
  const { ctx, services, site, visit, app, target } = exchange;
  const done = await withRun(services, visit, app, async (run) => {
    const block = permittedBlock(run, target.block);
    const { value } = await computeElement(run, block, target.element);
    const { type } = block.definition.elements.get(target.element) ?? {};
    return { value, type, leadsTo: type === 'ACTION' ? redirectOf(run, value) : null };
  });
  const { value, type, leadsTo } = done.value;
  if (type === 'ACTION') {
    const back = services.sites.urls.block(site, app.id, target.block, visit.contentPath);
    return redirect(exchange, leadsTo ?? back, done.console);
  }
  if (done.response.type) answerTyped(exchange, done.response.type, value);
  else {
    // Only BASIC is HTML: the value of an input is text that somebody has entered.
    ctx.type = typeof value !== 'string' ? 'application/json' : type === 'BASIC' ? 'text/html' : 'text/plain';
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = typeof value === 'string' ? value : JSON.stringify(value);
  }
  applyLogicResponse(exchange, done);
}

/** Marks the address of a record that has just been saved by a visitor who may not read it. */
const SAVED = 'saved';

/** The record's page; who may not read it finds a thank-you there, and nothing of the record. */
function pageAfterSaving({ rights }: Exchange, recordPage: string): string {
  return rights.view ? recordPage : `${recordPage}?${SAVED}`;
}

function isAfterSaving({ ctx }: Exchange): boolean {
  return new URLSearchParams(ctx.querystring).has(SAVED);
}

/** Characters of the longest record id (contract, section 3). */
const MAX_ID = 255;

/** A trailing `/edit` means edit mode unless a record with that whole id exists (contract, section 3). */
async function addressedRecord(run: Run, exchange: RecordExchange): Promise<{ record: StoredRecord; edit: boolean }> {
  const { id, edit } = exchange.target;
  const key = { site: exchange.site.id, app: exchange.app.id };
  requireRight(run, run.rights.view, 'see records');
  // With its ending the address of the longest ids is no id any more.
  const whole = edit && id.length > MAX_ID ? null : await run.unit.get(key, id);
  if (whole || !edit) {
    if (!whole) throw new AppsError('NotFoundError', `There is no record "${id}" in the app "${exchange.app.id}"`);
    return { record: whole, edit: false };
  }
  const short = id.replace(/\/edit$/, '');
  return { record: await guarded(run, short, (creator) => run.rights.edit(creator), 'change this record'), edit: true };
}

/** The record's block if the theme has it still; a record is never out of reach because its block is gone. */
function blockOfRecord(run: Run, record: StoredRecord): Block | null {
  const { block } = record.items;
  return typeof block === 'string' && run.app.blocks.has(block) ? permittedBlock(run, block) : null;
}

async function answerDisplayed(exchange: Exchange, block: string, shown: Displayed, done: Done): Promise<void> {
  if ('redirect' in shown) return redirect(exchange, shown.redirect, done.console);
  await answerHtml(exchange, { title: block, main: shown.html }, block, done);
  applyLogicResponse(exchange, done);
}

/** Answers with a page: the form alone where that is asked for, else in the theme or bare. */
async function answerHtml(exchange: Exchange, page: PageContent, block?: string, done?: Done): Promise<void> {
  const { ctx, site } = exchange;
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('X-Requested-With');
  if (wantsFragment(ctx)) ctx.body = page.main;
  else if (standsInTheme(exchange, block)) ctx.body = await inTheme(exchange, page, done);
  else ctx.body = bareDocument({ ...page, script: `${site.url}/@@apps.js`, lang: site.locale });
}

async function answerSubmitted(exchange: Exchange, block: string, submitted: Submitted, done: Done): Promise<void> {
  const { ctx, json } = exchange;
  if (json) ctx.set('Cache-Control', 'private, no-store');
  switch (submitted.kind) {
    case 'shown':
      if (!json || 'redirect' in submitted) return answerDisplayed(exchange, block, submitted, done);
      ctx.body = { html: submitted.html };
      return applyLogicResponse(exchange, done);
    case 'invalid':
      if (json) {
        throw new AppsError('ValidationError', 'Some fields are not right', { details: { errors: submitted.errors } });
      }
      await answerHtml(exchange, { title: block, main: submitted.html }, block, done);
      ctx.status = 422;
      return;
    case 'saved': {
      const path = recordUrl(exchange, submitted.record.id);
      if (!json) return redirect(exchange, submitted.redirect ?? pageAfterSaving(exchange, path), done.console);
      ctx.status = submitted.created ? 201 : 200;
      if (submitted.created) ctx.set('Location', path);
      ctx.body = submitted.created ? { path, id: submitted.record.id, success: 'created' } : { success: 'updated' };
      return;
    }
    case 'deleted': {
      if (json) ctx.body = { success: 'deleted' };
      else redirect(exchange, submitted.redirect ?? blockAddress(exchange, block), done.console);
      return;
    }
    case 'edit':
      throw new AppsError('BadRequestError', 'Only a record can be edited');
  }
}
