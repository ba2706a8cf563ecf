import { type FormFields, senders, unanswered } from '../../apps';
import type { Exchange } from '../request/exchange';
import { mediaType } from '../request/negotiate';

/**
 * Guards a form that anonymous saves (docs/reference/rights.md#public-forms), before its logic runs: RateLimitError when one
 * address sends too many. A missing or used proof of work, where the app asks for one, becomes the form's problem. Of a
 * body of JSON see `senders`.
 */
export async function guardPost(exchange: Exchange, fields: FormFields, block: string): Promise<void> {
  const { ctx, services, site, app, requester, visit } = exchange;
  if (visit.dry) return;
  if (requester.kind !== 'anonymous' || !Object.hasOwn(fields, '_save') || !app.blocks.has(block)) return;
  const { guard } = senders[mediaType(ctx) === 'application/json' ? 'jsonForm' : 'form'];
  if (guard === 'strict' && !app.settings.strict) return;
  const form = [site.id, app.id, block];
  await services.requesters.formPosts.take(ctx.ip, form, services.config.limits.formPosts);
  if (!app.settings.proofOfWork || !visit.forms) return;
  if (asksFirst(exchange, fields, block)) return;
  if (!(await isProved(exchange, [site.id, app.id], fields))) visit.forms.problem = 'no_proof';
}

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
