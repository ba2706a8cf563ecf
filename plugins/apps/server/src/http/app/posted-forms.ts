import type { Items, Json } from '../../../../shared/json';
import {
  type Block,
  type FormFields,
  localeOf,
  mayChange,
  permittedBlock,
  type Run,
  type RunOptions,
  readJsonForm,
  refusesForm,
  requireRight,
  type Submitted,
  senders,
  showRefused,
  submitBlock,
  unanswered,
  withRun,
} from '../../apps';
import { AppsError, isAppsError } from '../../common/errors';
import type { StoredRecord } from '../../records/types';
import { formFields } from '../request/body';
import type { Exchange, TargetOf } from '../request/exchange';
import { mediaType } from '../request/negotiate';
import { redirect } from '../response/logic-response';
import { doneOnce, postedForm } from './kept-answers';
import { recordUrl } from './list';
import { addressedRecord, answerDisplayed, answerSubmitted, blockOfRecord } from './page-handlers';

/**
 * Guards a form that anonymous saves (docs/reference/rights.md#public-forms), before its logic runs: RateLimitError when one
 * address sends too many. A missing or used proof of work, where the app asks for one, becomes the form's problem. Of a
 * body of JSON see `senders`.
 */
export async function guardPost(exchange: Exchange, fields: FormFields, block: string): Promise<void> {
  const { app, requester, visit } = exchange;
  if (visit.dry || !app.blocks.has(block) || !stores(fields)) return;
  if (requester.kind === 'anonymous') await guardAnonymous(exchange, fields, block);
}

async function guardAnonymous(exchange: Exchange, fields: FormFields, block: string): Promise<void> {
  const { ctx, services, site, app, visit } = exchange;
  const { guard } = senders[mediaType(ctx) === 'application/json' ? 'jsonForm' : 'form'];
  if (guard === 'strict' && !app.settings.strict) return;
  const form = [site.id, app.id, block];
  await services.requesters.formPosts.take(ctx.ip, form, services.config.limits.formPosts);
  if (!app.settings.proofOfWork || !visit.forms) return;
  if (asksFirst(exchange, fields, block)) return;
  if (!(await isProved(exchange, [site.id, app.id], fields))) visit.forms.problem = 'no_proof';
}

/** Whether a button was pressed that stores what was entered. */
const stores = (fields: FormFields): boolean => ['_save', '_draft'].some((name) => Object.hasOwn(fields, name));

/** Whether the answer will be a question: the proof is needed with the reply. */
function asksFirst({ app, json }: Exchange, fields: FormFields, block: string): boolean {
  const found = app.blocks.get(block);
  return !json && found !== undefined && unanswered(found, fields) !== null;
}

/** Whether the form has a proof that was not used before. */
async function isProved({ services }: Exchange, app: readonly string[], fields: FormFields): Promise<boolean> {
  const { proofs, formPosts } = services.requesters;
  const proof = Object.hasOwn(fields, '_proof') ? fields._proof : undefined;
  const checked = typeof proof === 'string' && proof !== '' ? await proofs.check(app, proof) : null;
  return checked !== null && formPosts.isFirst(checked.challenge, checked.endsAt);
}

/** The block that a form belongs to, and the record that it shows. */
interface Posted {
  block: Block;
  record: StoredRecord | null;
}

export type Find = (run: Run) => Promise<Posted>;

/** A posted form of a block without a record. */
export async function postBlock(exchange: Exchange<TargetOf<'block'>>): Promise<void> {
  const find: Find = async (run) => ({ block: permittedBlock(run, exchange.target.block), record: null });
  return answerPosted(exchange, find, (fields) => guardPost(exchange, fields, exchange.target.block));
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

/** The outcome of a posted form, and what names its block and its record. */
interface Outcome {
  submitted: Submitted;
  block: string;
  record: string | null;
}

/** What is kept of the answer to a form that has saved or deleted: the record's items are not part of it. */
function keptOutcome({ submitted, ...named }: Outcome): Json | undefined {
  if (submitted.kind === 'deleted' || submitted.kind === 'draft') return { ...named, submitted: { ...submitted } };
  if (submitted.kind !== 'saved') return undefined;
  const { record, ...more } = submitted;
  return { ...named, submitted: { ...more, record: { id: record.id, creator: record.creator } } };
}

/**
 * Answers a posted form.
 * @param find the block that it belongs to, and the record that it shows
 * @param guard what is checked before the logic runs
 */
export async function answerPosted(
  exchange: Exchange,
  find: Find,
  guard: (fields: FormFields) => Promise<void> = async () => {},
): Promise<void> {
  const { ctx, services, visit, app, json } = exchange;
  const fields = formFields(ctx);
  const isJsonBody = mediaType(ctx) === 'application/json';
  if (visit.staleForm) return showAgain(exchange, find, fields, visit.staleForm);
  try {
    const work = async (run: Run): Promise<Outcome> => {
      const { block, record } = await find(run);
      const sent = isJsonBody
        ? await readJsonForm(run, block, fields as Items, record)
        : { run, form: { fields, wrong: new Map() } };
      const rights = { ...rightsFor(run, record), asks: !json };
      const submitted = await submitBlock(sent.run, block, record, sent.form, rights);
      return { submitted, block: block.id, record: record?.id ?? null };
    };
    const runOnce = async (keeps: RunOptions) => {
      await guard(fields);
      return withRun(services, visit, app, work, keeps);
    };
    const done = await doneOnce(exchange, postedForm(exchange, fields), runOnce, keptOutcome);
    const { submitted, block, record } = done.value;
    if (submitted.kind === 'edit' && record !== null) {
      return redirect(exchange, visit.own?.address ?? `${recordUrl(exchange, record)}/edit`, done);
    }
    await answerSubmitted(exchange, block, submitted, done);
  } catch (error) {
    if (json || !refusesForm(error)) throw error;
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
  const again = refusesForm(refused)
    ? refused
    : { errors: await staleErrors(exchange), budget: services.logic.budget() };
  const { budget } = again;
  // The console entries of the refused attempt are this page's too.
  const shownTo = visit.withPending(visit.failedLog ?? visit.pendingLog);
  const done = await withRun(
    services,
    shownTo,
    app,
    async (run) => {
      const { block, record } = await find(run);
      // A form without a valid token is shown to requesters who could send it; others log in first.
      if (visit.staleForm && stores(fields)) rightsFor(run, record).save();
      return { shown: await showRefused(run, block, record, fields, again), block };
    },
    { isDropped: true, budget },
  ).catch((error: unknown) => {
    // The token is what is refused, whatever else the requester lacks (docs/reference/http.md#csrf-tokens).
    if (visit.staleForm && isAppsError(error, 'UnauthorizedError'))
      throw new AppsError('CsrfError', error.message, { cause: error });
    // What is refused is the form, whatever keeps it from being shown again.
    throw isAppsError(error) && !shownInstead.has(error.status) ? refused : error;
  });
  const { shown, block } = done.value;
  await answerDisplayed(exchange, block.id, shown, done);
  if ('redirect' in shown) return;
  ctx.status = refused.status;
  ctx.set(refused.headers);
}

/** Statuses that say more than the refusal of a form: the login, and a missing right. */
const shownInstead = new Set([401, 403]);

/** The rights that a form needs: to make a record, or to change the one that it shows. */
function rightsFor(run: Run, record: StoredRecord | null) {
  return {
    save: () =>
      record
        ? requireRight(run, mayChange(run, 'edit', record), 'change this')
        : requireRight(run, run.rights.create, 'send this form'),
    delete: () => record && requireRight(run, mayChange(run, 'delete', record), 'delete this'),
  };
}
