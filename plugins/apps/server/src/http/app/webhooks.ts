import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { type App, computeElement, permittedBlock, type Run, withRun } from '../../apps';
import type { Verify } from '../../apps/types';
import type { Requester } from '../../auth/types';
import { AppsError, unavailable } from '../../common/errors';
import { secretOf } from '../../outbound';
import type { AppTarget } from '../../sites/types';
import { type Refused, standardKey, type Verified, verifyHex, verifyStandard } from '../../webhooks';
import { hasBody, keptBody } from '../request/body';
import { requireOwnForm } from '../request/csrf';
import type { Exchange, HttpServices, TargetOf } from '../request/exchange';
import { mediaType, onlyHeader } from '../request/negotiate';
import { answerElement } from './json-handlers';
import { deliveredRequest, doneOnce } from './kept-answers';

/** An element that webhooks call, as the target of a request. */
export interface WebhookTarget {
  app: App;
  block: string;
  verify: Verify;
  element: string;
}

/** The element with `verify` that an address names; null for any other address. */
export function webhookTarget(app: App, target: AppTarget): WebhookTarget | null {
  if (target.kind !== 'element') return null;
  const verify = app.blocks.get(target.block)?.definition.elements.get(target.element)?.verify;
  return verify ? { app, verify, block: target.block, element: target.element } : null;
}

/** Methods of an element that webhooks call. */
const WEBHOOK_METHODS = 'POST, OPTIONS';

/** Media types of a webhook's body. */
const bodyTypes = new Set(['application/json', 'application/x-www-form-urlencoded']);

/**
 * Checks the signature of a webhook's request, before its body is looked at: UnauthorizedError where it is wrong, missing
 * or old; UnsupportedMediaTypeError for a body whose bytes are not known; ServiceUnavailableError without a secret.
 * @returns what a repetition has in common with the request
 */
function verifyWebhook(ctx: Context, services: HttpServices, target: WebhookTarget): Verified {
  const isEncoded = !['', 'identity'].includes(ctx.get('Content-Encoding').toLowerCase());
  if (isEncoded || (hasBody(ctx) && !bodyTypes.has(mediaType(ctx)))) {
    const message = 'A webhook is application/json or application/x-www-form-urlencoded, without a Content-Encoding';
    throw new AppsError('UnsupportedMediaTypeError', message);
  }
  const body = keptBody(ctx) ?? (hasBody(ctx) ? null : Buffer.alloc(0));
  const found = body ? check(ctx, services, target, body) : { refused: 'A webhook needs the body that was signed' };
  if ('refused' in found) throw new AppsError('UnauthorizedError', found.refused);
  return found;
}

function check(ctx: Context, services: HttpServices, target: WebhookTarget, body: Buffer): Verified | Refused {
  const { secret: name, hex } = target.verify;
  const secret = secretOf(services.outbound, name);
  if (!secret) throw withoutSecret(services, target, 'is missing in the configuration, or is empty');
  const header = (one: string) => onlyHeader(ctx, one);
  if (hex) return verifyHex(secret, hex, header, body);
  const key = standardKey(secret);
  if (!key) throw withoutSecret(services, target, 'must be base64, with "whsec_" before it or without');
  return verifyStandard(key, header, body, Date.now());
}

/** Messages that were logged: one a minute for each element. */
const logged = new LRUCache<string, true>({ max: 1_000, ttl: 60_000 });

/** The error of a webhook whose signature cannot be checked. The log says why; the sender may try again. */
function withoutSecret({ logger }: HttpServices, { app, block, element, verify }: WebhookTarget, lack: string) {
  const place = `${app.folder.site.id}/${app.id}/blocks/${block}/${element}`;
  if (!logged.has(place)) {
    logged.set(place, true);
    logger.error(`[apps] ${place} refuses webhooks: the secret fetch.secrets.${verify.secret}.value ${lack}`);
  }
  return unavailable('The signature of this webhook cannot be checked: its secret is not configured', 60);
}

/**
 * Who sends a webhook: anonymous, unless it has credentials of its own. What a browser adds by itself does not count: a
 * sender could have a visitor's browser send what it has signed. CsrfError for a password that a page of another origin has used.
 */
export async function webhookRequester(
  ctx: Context,
  { requesters }: Pick<HttpServices, 'requesters'>,
  requester: Requester,
): Promise<Requester> {
  if (requester.credential === 'cookie') return requesters.anonymous();
  if (requester.credential === 'basic') requireOwnForm(ctx, requesters);
  return requester;
}

/** The handler of a request to an element with `verify`, whose signature is checked here, or the methods that it takes. */
export function webhookRoute(
  ctx: Context,
  services: HttpServices,
  target: WebhookTarget,
): ((exchange: Exchange<TargetOf<'element'>>) => Promise<void>) | { allow: string } {
  if (ctx.method !== 'POST') return { allow: WEBHOOK_METHODS };
  const { id } = verifyWebhook(ctx, services, target);
  return (exchange) => postWebhook(exchange, id);
}

/** Calls the function of the element once for each id of a webhook (docs/decisions/webhooks.md). */
async function postWebhook(exchange: Exchange<TargetOf<'element'>>, id: string | null): Promise<void> {
  const { services, visit, app, target } = exchange;
  const call = (run: Run) => computeElement(run, permittedBlock(run, target.block), target.element);
  const done = await doneOnce(exchange, deliveredRequest(exchange, id), (keeps) =>
    withRun(services, visit, app, call, keeps),
  );
  answerElement(exchange, done);
}
