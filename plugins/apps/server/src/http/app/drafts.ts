import {
  type App,
  attributes,
  type Block,
  continuedForm,
  displayBlock,
  draftValues,
  END_DRAFT,
  escapeHtml,
  localeOf,
  type OpenDraft,
  openDraft,
  permittedBlock,
  type Run,
  showEndedDraft,
  shownElements,
  withRun,
} from '../../apps';
import { AppsError, notFound } from '../../common/errors';
import { DraftEnded } from '../../links';
import type { Site } from '../../sites/types';
import { formFields } from '../request/body';
import type { Exchange, HttpServices, TargetOf } from '../request/exchange';
import { answerDisplayed, answerHtml } from './page-handlers';
import { answerPosted, guardPost } from './posted-forms';

type DraftExchange = Exchange<TargetOf<'draft'>>;

/** The same for a token that was never made, one that was revoked, and one of a draft that is over. */
const nothing = () => notFound('There is nothing at this address');

/**
 * The draft that a request continues by the token in its address (docs/reference/definitions.md#drafts). NotFoundError for any other token. Of a
 * draft that has ended only a form is let through: it may have been sent twice, and what was entered in it must not be lost.
 * @returns undefined for a form whose draft is no longer known
 */
export async function draftOfToken(
  services: HttpServices,
  { site, app, token, method }: { site: Site; app: App; token: string; method: string },
): Promise<OpenDraft | undefined> {
  const key = { site: site.id, app: app.id };
  const draft = await services.drafts.find(key, token);
  const isOpen = draft !== null && !draft.isSent;
  if (!isOpen && (method !== 'POST' || !services.drafts.isToken(key, token))) throw nothing();
  return draft === null ? undefined : openDraft(services, { site, app, draft });
}

/** The draft with its block. DraftEnded where it has ended; NotFoundError where the block is gone. */
function found(run: Run): { open: OpenDraft; block: Block } {
  const open = run.visit.draft;
  if (!open || open.draft.isSent) throw new DraftEnded();
  if (!run.app.blocks.has(open.block)) throw nothing();
  return { open, block: permittedBlock(run, open.block) };
}

/** `GET` with `Accept: application/json`: what was entered, as texts. */
export async function readDraft(exchange: DraftExchange): Promise<void> {
  const { ctx, services, visit, app } = exchange;
  const { value } = await withRun(services, visit, app, async (run) => {
    const { open, block } = found(run);
    const { content, savedAt, endsAt } = open.draft;
    return {
      block: block.id,
      values: draftValues(block, content, shownElements(run, block)),
      saved_at: new Date(savedAt).toISOString(),
      until: new Date(endsAt).toISOString(),
    };
  });
  ctx.body = value;
}

/** The form with what was entered, at its page. */
export async function showDraft(exchange: DraftExchange): Promise<void> {
  const { services, visit, app } = exchange;
  const done = await withRun(services, visit, app, async (run) => {
    const { open, block } = found(run);
    return { block: block.id, shown: await displayBlock(run, block, await continuedForm(run, block, open.draft)) };
  });
  await answerDisplayed(exchange, done.value.block, done.value.shown, done);
}

/** A posted form of the page: the block's own, or the button that ends the draft, whose question is asked first. */
export async function postToDraft(exchange: DraftExchange): Promise<void> {
  const { ctx, visit } = exchange;
  const fields = formFields(ctx);
  if (!Object.hasOwn(fields, END_DRAFT)) {
    return continueDraft(exchange);
  }
  if (!visit.draft || visit.draft.draft.isSent) throw nothing();
  // A form without a valid token carries out nothing.
  if (fields[END_DRAFT] !== 'yes' || visit.staleForm) return ask(exchange);
  await revoke(exchange);
  const { services, site, app } = exchange;
  const { say } = await localeOf(exchange);
  const main = `<h1>${escapeHtml(say('draft_revoked'))}</h1><p><a href="${escapeHtml(services.sites.urls.app(site, app.id))}">${escapeHtml(say('go_on'))}</a></p>`;
  await answerHtml(exchange, { title: say('draft_revoked'), main });
}

/** The block's own form. Where the draft has ended, also while the form was being answered, nothing is stored. */
async function continueDraft(exchange: DraftExchange): Promise<void> {
  const { visit } = exchange;
  const find = async (run: Run) => ({ block: found(run).block, record: null });
  // An old token would hide why nothing is stored.
  if (visit.staleForm && (!visit.draft || visit.draft.draft.isSent)) return answerEnded(exchange);
  try {
    await answerPosted(exchange, find, (sent) => guardPost(exchange, sent, visit.draft?.block ?? ''));
  } catch (error) {
    if (!(error instanceof DraftEnded)) throw error;
    await answerEnded(exchange);
  }
}

/** How a draft has ended, as `details.code`, with the message for clients. */
const endings = {
  sent: 'The form of this draft was sent already',
  ended: 'This draft was deleted, or its time is over',
} as const;

/** 409: the page shows what was entered. */
async function answerEnded(exchange: DraftExchange): Promise<void> {
  const { ctx, services, site, app, visit, json, target } = exchange;
  const draft = await services.drafts.find({ site: site.id, app: app.id }, target.token);
  const isSent = draft?.isSent === true;
  const code = isSent ? 'sent' : 'ended';
  if (json) throw new AppsError('ConflictError', endings[code], { details: { code } });
  const { draft: open } = visit;
  const show = (run: Run) => showEndedDraft(run, { block: open?.block, isSent }, formFields(ctx));
  const done = await withRun(services, visit.withoutDraft(), app, show, { isDropped: true });
  if (!done.value) throw nothing();
  const { block, shown } = done.value;
  await answerDisplayed(exchange, block.id, shown, done);
  if (!('redirect' in shown)) ctx.status = 409;
}

/** The page with the question of the button. */
async function ask(exchange: DraftExchange): Promise<void> {
  const { visit } = exchange;
  const { draft: open } = visit;
  if (!open) throw nothing();
  const { say } = await localeOf(exchange);
  const title = say('draft_revoke_ask');
  const yes = attributes({ type: 'submit', class: 'apps-action', name: END_DRAFT, value: 'yes' });
  const main =
    `<form class="apps-own" method="post" action="${escapeHtml(open.address)}">` +
    `<input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}"><h1>${escapeHtml(title)}</h1>` +
    `<p><button${yes}>${escapeHtml(say('draft_revoke'))}</button> <a href="${escapeHtml(open.address)}">${escapeHtml(say('cancel'))}</a></p></form>`;
  await answerHtml(exchange, { title, main }, open.block);
}

async function revoke({ services, visit }: DraftExchange): Promise<void> {
  const { draft: open, dry } = visit;
  if (!open || dry) return;
  if (!(await services.drafts.remove(open.draft.key, open.draft.draftId))) throw nothing();
}

/** `DELETE`: ends the draft, with its files. */
export async function deleteDraft(exchange: DraftExchange): Promise<void> {
  await revoke(exchange);
  exchange.ctx.body = { success: 'deleted' };
}
