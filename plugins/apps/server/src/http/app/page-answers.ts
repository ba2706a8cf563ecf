import { type Displayed, localeOf, type PageContent, type Ran, type Submitted, scriptUrl, withFlash } from '../../apps';
import type { FlashMessage } from '../../auth/types';
import { AppsError } from '../../common/errors';
import type { StoredRecord } from '../../records/types';
import type { Exchange } from '../request/exchange';
import { wantsFragment } from '../request/negotiate';
import { SAVED } from '../request/operations';
import { inTheme, isShownInTheme } from '../response/in-theme';
import { applyLogicResponse, redirect } from '../response/logic-response';
import { bareDocument } from '../response/pages';
import { recordUrl } from './list';
import { viewsOf } from './views';

type Done = Omit<Ran<unknown>, 'value'>;

/** Answers with a displayed block, or the redirect of its logic. */
export async function answerDisplayed(exchange: Exchange, block: string, shown: Displayed, done: Done): Promise<void> {
  if ('redirect' in shown) return redirect(exchange, shown.redirect, done);
  await answerHtml(exchange, { title: shown.title, main: shown.html }, block, done);
  applyLogicResponse(exchange, done, { isPage: true });
}

/** Answers with a page: the form alone if requested, else in the theme or bare. */
export async function answerHtml(exchange: Exchange, page: PageContent, block?: string, done?: Done): Promise<void> {
  const { ctx, services, site, visit } = exchange;
  ctx.type = 'text/html';
  ctx.set('Cache-Control', 'private, no-store');
  ctx.vary('X-Requested-With');
  visit.flash?.add(done?.flashes ?? []);
  const whole = { ...page, canonical: await canonicalAddress(exchange, block), hasFlash: true };
  if (!wantsFragment(ctx) && isShownInTheme(exchange, block)) {
    ctx.body = await inTheme(exchange, whole, done);
    return;
  }
  const main = withFlash(page.main, (await visit.flash?.take()) ?? '');
  if (wantsFragment(ctx)) ctx.body = main;
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
        if (submitted.redirect !== null) return redirect(exchange, submitted.redirect, done);
        const flashes = await thanking(exchange, block, done.flashes);
        return redirect(exchange, pageAfterSaving(exchange, submitted.record, path), { ...done, flashes });
      }
      ctx.status = submitted.created ? 201 : 200;
      if (submitted.created) ctx.set('Location', path);
      ctx.body = submitted.created ? { path, id: submitted.record.id, success: 'created' } : { success: 'updated' };
      return;
    }
    case 'deleted': {
      if (json) ctx.body = { success: 'deleted' };
      else redirect(exchange, submitted.redirect ?? (await blockHome(exchange, block)), done);
      return;
    }
    case 'edit':
      throw new AppsError('BadRequestError', 'Only a record can be edited');
  }
}

/** The messages of the record's page after a save: it thanks, unless logic has said something else, and leads on. */
async function thanking(
  exchange: Exchange,
  block: string,
  said: readonly FlashMessage[],
): Promise<readonly FlashMessage[]> {
  const { visit, app } = exchange;
  const { say } = await localeOf({ visit, app });
  const messages = said.length > 0 ? said : [{ text: say('thanks_saved') }];
  const to = new URL(await blockHome(exchange, block)).pathname;
  return messages.map((message, index) => (index === messages.length - 1 ? { ...message, to } : message));
}

/** The record's page; visitors without the right to read it get a thank-you there, and nothing of the record. */
function pageAfterSaving({ rights }: Exchange, { creator }: StoredRecord, recordPage: string): string {
  return rights.view(creator) ? recordPage : `${recordPage}?${SAVED}`;
}

export function isAfterSaving({ ctx }: Exchange): boolean {
  return new URLSearchParams(ctx.querystring).has(SAVED);
}

/** The address of a page without its query; of a block the one of its view (docs/reference/site.md#titles-and-addresses). */
async function canonicalAddress(exchange: Exchange, block: string | undefined): Promise<string | undefined> {
  const { target } = exchange;
  if (target.kind === 'record') return recordUrl(exchange, target.id);
  return block === undefined ? undefined : blockHome(exchange, block);
}

/** The address of the view that the block is, else its own. */
async function blockHome({ services, site, app, visit }: Exchange, block: string): Promise<string> {
  const { urls } = services.sites;
  const view = app.blocks.get(block)?.definition.view?.id;
  const owner = view === undefined ? undefined : (await viewsOf(services, site)).get(view);
  return view !== undefined && owner?.app.id === app.id && owner.block.id === block
    ? urls.view(site, view, visit.contentPath)
    : urls.block(site, app.id, block, visit.contentPath);
}
