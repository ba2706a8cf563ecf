import type { Items } from '../../../../shared/json';
import {
  type Block,
  FormRefusal,
  localeOf,
  permittedBlock,
  type Run,
  readJsonForm,
  requireRight,
  showRefused,
  submitBlock,
  type Visit,
  withRun,
} from '../../apps';
import { AppsError, isAppsError } from '../../common/errors';
import type { StoredRecord } from '../../records/types';
import { formFields } from '../request/body';
import type { Exchange, TargetOf } from '../request/exchange';
import { mediaType } from '../request/negotiate';
import { redirect } from '../response/logic-response';
import { guardPost } from './guard-post';
import { recordUrl } from './list';
import { answerDisplayed, answerSubmitted } from './page-answers';
import { addressedRecord, blockOfRecord } from './record-pages';

/** The block that a form belongs to, and the record that it shows. */
interface Posted {
  block: Block;
  record: StoredRecord | null;
}

type Find = (run: Run) => Promise<Posted>;

/** A posted form of a block without a record. */
export async function postBlock(exchange: Exchange<TargetOf<'block'>>): Promise<void> {
  await guardPost(exchange, formFields(exchange.ctx), exchange.target.block);
  return answerPosted(exchange, async (run) => ({ block: permittedBlock(run, exchange.target.block), record: null }));
}

/** A posted form of a record: its actions, `_save`, `_edit`, `_delete`, each with the right that it needs. */
export function postToRecord(exchange: Exchange<TargetOf<'record'>>): Promise<void> {
  return answerPosted(exchange, async (run) => {
    const { record } = await addressedRecord(run, exchange);
    const block = blockOfRecord(run, record);
    if (!block) throw new AppsError('BadRequestError', `The record "${record.id}" has no block that takes a form`);
    return { block, record };
  });
}

async function answerPosted(exchange: Exchange, find: Find): Promise<void> {
  const { ctx, services, visit, app, json } = exchange;
  const fields = formFields(ctx);
  const isJsonBody = mediaType(ctx) === 'application/json';
  if (visit.staleForm) return showAgain(exchange, find, fields, visit.staleForm);
  try {
    const done = await withRun(services, visit, app, async (run) => {
      const { block, record } = await find(run);
      const sent = isJsonBody
        ? await readJsonForm(run, block, fields as Items)
        : { run, form: { fields, wrong: new Map() } };
      const rights = { ...rightsFor(run, record), asks: !json };
      return { submitted: await submitBlock(sent.run, block, record, sent.form, rights), block, record };
    });
    const { submitted, block, record } = done.value;
    if (submitted.kind === 'edit' && record) {
      return redirect(exchange, `${recordUrl(exchange, record.id)}/edit`, done);
    }
    await answerSubmitted(exchange, block.id, submitted, done);
  } catch (error) {
    if (json || !(error instanceof FormRefusal)) throw error;
    await showAgain(exchange, find, fields, error);
  }
}

/** What a form without a valid token says. */
async function staleErrors({ visit, app }: Exchange) {
  const { say } = await localeOf({ visit, app });
  return [{ path: [], message: say('stale_form') }];
}

/** Shows a refused form again, with what was entered; nothing of it is stored. */
async function showAgain(
  exchange: Exchange,
  find: Find,
  fields: Record<string, unknown>,
  refused: AppsError,
): Promise<void> {
  const { ctx, services, visit, app } = exchange;
  const { logic } = services;
  const { errors, budget } =
    refused instanceof FormRefusal ? refused : { errors: await staleErrors(exchange), budget: logic.budget() };
  const rest = { ...services, logic: { ...logic, budget: () => budget ?? logic.budget() } };
  // The console entries of the refused attempt are this page's too.
  const again: Visit = { ...visit, pendingLog: visit.failedLog ?? visit.pendingLog };
  const done = await withRun(
    rest,
    again,
    app,
    async (run) => {
      const { block, record } = await find(run);
      // A form without a valid token is shown to requesters who could send it; others log in first.
      if (visit.staleForm && Object.hasOwn(fields, '_save')) rightsFor(run, record).save();
      return { shown: await showRefused(run, block, record, fields, errors), block };
    },
    { isDropped: true },
  ).catch((error: unknown) => {
    // The token is what is refused, whatever else the requester lacks (docs/reference/http.md#csrf-tokens).
    if (visit.staleForm && isAppsError(error, 'UnauthorizedError'))
      throw new AppsError('CsrfError', error.message, { cause: error });
    // What is refused is the form, whatever keeps it from being shown again.
    throw isAppsError(error) && !shownInstead.has(error.status) ? refused : error;
  });
  const { shown, block } = done.value;
  await answerDisplayed(exchange, block.id, shown, done);
  if (!('redirect' in shown)) ctx.status = refused.status;
}

/** Statuses that say more than the refusal of a form: the login, and a missing right. */
const shownInstead = new Set([401, 403]);

/** The rights that a form needs: to make a record, or to change the one that it shows. */
function rightsFor(run: Run, record: StoredRecord | null) {
  return {
    save: () =>
      record
        ? requireRight(run, run.rights.edit(record.creator), 'change this')
        : requireRight(run, run.rights.create, 'send this form'),
    delete: () => record && requireRight(run, run.rights.delete(record.creator), 'delete this'),
  };
}
