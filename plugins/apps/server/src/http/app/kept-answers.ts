import { createHash } from 'node:crypto';
import type { Json } from '../../../../shared/json';
import type { Ran, RunOptions } from '../../apps';
import { authorityOf } from '../../auth';
import { AppsError, isAppsError } from '../../common/errors';
import { isAnsweredBefore } from '../../records';
import type { KeptAnswer, KeptRequest } from '../../records/types';
import type { SentBytes } from '../request/body';
import { csrfOf } from '../request/csrf';
import type { Exchange } from '../request/exchange';
import { onlyHeader } from '../request/negotiate';

/** A request that may come again, and that is then answered as before (docs/decisions/kept-answers.md). */
export interface Repeatable extends KeptRequest {
  /** The header in which its sender has named it: another request under that name is refused, and so is one while the first runs. */
  named: string | null;
  /** A body that the work reads itself: once read, its digest is a part of the fingerprint. */
  bytes: SentBytes | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields of a form that differ between two requests for the same thing. */
const OWN = new Set(['_csrf', '_shown', '_proof']);

/** Buttons that save or delete. Others, such as actions that count, may be meant twice. */
const BUTTONS = ['_save', '_draft', '_delete', '_state'];

/**
 * The request of a posted form that saves or deletes: the same form of the same page with the same fields is the same request,
 * such as of a double click, or of a browser that has lost the answer. A page that is loaded again has another token.
 */
export function postedForm(exchange: Exchange, fields: Fields): Repeatable | null {
  const named = namedRequest(exchange);
  if (named) return named;
  const { ctx, services, requester, visit } = exchange;
  const token = Object.hasOwn(fields, '_csrf') ? fields._csrf : undefined;
  if (visit.dry || typeof token !== 'string' || !BUTTONS.some((name) => Object.hasOwn(fields, name))) return null;
  const { csrf } = services.requesters;
  try {
    // A token that the server has not made may be the same in any number of forms.
    csrf.verify(token, requester);
  } catch {
    return null;
  }
  const entered = Object.entries(fields).flatMap(([name, texts]) => (OWN.has(name) ? [] : [[name, inLines(texts)]]));
  const fingerprint = digestOf([entered, filesOf(exchange)]);
  return repeatable(exchange, ['form', token, ctx.path, fingerprint], fingerprint, null);
}

/** What a field sends, with line ends as a script has them: those of a form that is sent as a page are others. */
const inLines = (texts: unknown): unknown =>
  Array.isArray(texts) ? texts.map(inLines) : typeof texts === 'string' ? texts.replace(/\r\n?/g, '\n') : texts;

const KEY_HEADER = 'Idempotency-Key';

/** 1 to 255 visible characters, in quotes as a structured field has them, or without. */
const KEY = /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255}))$/;

/**
 * The request that an `Idempotency-Key` names; null without one. BadRequestError for a key that is none.
 * @param bytes its body where it is not read yet
 */
export function namedRequest(exchange: Exchange, bytes: SentBytes | null = null): Repeatable | null {
  const { ctx, requester, visit } = exchange;
  const header = ctx.get(KEY_HEADER);
  if (header === '' || visit.dry) return null;
  const [, quoted, bare] = KEY.exec(header) ?? [];
  const key = quoted ?? bare;
  if (key === undefined)
    throw new AppsError('BadRequestError', `${KEY_HEADER} must have 1 to 255 visible characters of ASCII`);
  // Visitors without a login have no identity of their own: their token tells them from each other.
  const holder = requester.identity === '' ? csrfOf(ctx) : '';
  const { body = null } = ctx.request as { body?: unknown };
  const fingerprint = digestOf([ctx.querystring, bytes ? ctx.get('Content-Type') : body, filesOf(exchange)]);
  return { ...repeatable(exchange, ['key', key, holder, ctx.method, ctx.path], fingerprint, KEY_HEADER), bytes };
}

/** The id of a webhook: visible characters. */
const DELIVERY = /^[\x21-\x7e]{1,255}$/;

/**
 * The request of a webhook, by its `webhook-id`, whatever its body is: a sender may write the body again for each try. Without
 * one, as `namedRequest`.
 * @param id the id that was signed; null: the header is not signed
 */
export function deliveredRequest(exchange: Exchange, id: string | null): Repeatable | null {
  const { ctx, services, visit, site, app } = exchange;
  const given = id ?? onlyHeader(ctx, 'webhook-id');
  if (given === null || !DELIVERY.test(given)) return namedRequest(exchange);
  if (visit.dry) return null;
  const request = repeatable(exchange, ['webhook', given, ctx.path], '', 'webhook-id');
  // All that call this element have a share of their own among the kept answers.
  return { ...request, sender: services.requesters.requestName(['webhooks', site.id, app.id, ctx.path]) };
}

const filesOf = ({ visit: { files } }: Exchange): unknown =>
  (files?.parts() ?? []).map((part) => [
    part,
    files?.of(part).map((file) => ('token' in file ? [file.name, file.digest] : file.problem)),
  ]);

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url');

const repeatable = (
  { ctx, services, requester, site, app, visit }: Exchange,
  parts: string[],
  fingerprint: string,
  named: string | null,
): Repeatable => ({
  // The path of a signed link does not tell it from others.
  id: services.requesters.requestName([
    authorityOf(requester),
    site.id,
    app.id,
    visit.own?.linkId ?? visit.draft?.draft.draftId ?? '',
    ...parts,
  ]),
  sender: services.requesters.senderName(requester, ctx.ip),
  fingerprint,
  named,
  bytes: null,
});

/** What is kept of the request, after its body was read. */
const read = ({ fingerprint, bytes, ...request }: Repeatable): KeptRequest => ({
  ...request,
  fingerprint: bytes ? `${fingerprint}.${bytes.digest()}` : fingerprint,
});

/** A kept answer: the value of the work, the changes of logic to the response, and its messages for the visitor. */
type Kept<T> = Pick<Ran<T>, 'value' | 'response' | 'flashes'>;

type Work<T> = (options: Pick<RunOptions, 'keeps'>) => Promise<Ran<T>>;

/**
 * Does the work of a request once: a repeated one gets the value of the first, also while that runs, and from another process.
 * What fails is not kept: it has stored nothing.
 * @param keptOf what is kept of the value, as JSON; undefined: nothing, because the work may be repeated
 */
export async function doneOnce<T>(
  exchange: Exchange,
  request: Repeatable | null,
  work: Work<T>,
  keptOf: (value: T) => Json | undefined = (value) => value as Json,
): Promise<Ran<T>> {
  if (!request) return work({});
  const { answers } = exchange.services;
  if (request.named) {
    const known = await answered<T>(exchange, request);
    if (known) return known;
  }
  const keeps: RunOptions['keeps'] = (value, { response, flashes }) => {
    const kept = keptOf(value as T);
    if (kept === undefined) return null;
    return answers.keep(read(request), JSON.stringify({ value: kept, response, flashes }));
  };
  const running = answers.whileRunning(request.id, () =>
    work({ keeps }).catch(async (error: unknown) => {
      const first = await firstAnswer<T>(exchange, request, error);
      if (first) return first;
      throw error;
    }),
  );
  if ('first' in running) return running.first;
  if (request.named) throw stillRunning(request);
  return sharedAnswer(exchange, request, running.second, () => doneOnce(exchange, request, work, keptOf));
}

/** The answer of the request that has caused an error: what it has stored is no longer as the form has shown it. */
async function firstAnswer<T>(exchange: Exchange, request: Repeatable, error: unknown): Promise<Ran<T> | null> {
  // A proof of work is used up before the first request is answered, perhaps by another process.
  const waits = exchange.visit.forms?.problem === undefined ? 1 : 10;
  for (let left = waits; left > 0; left -= 1) {
    const found = await answered<T>(exchange, request).catch((reason: unknown) => {
      // An unavailable database is the reason why the work has failed.
      throw isAnsweredBefore(error) ? reason : error;
    });
    if (found || left === 1) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return null;
}

/** What a request is answered that has come while the first one runs in this process. */
async function sharedAnswer<T>(
  exchange: Exchange,
  request: Repeatable,
  first: Promise<unknown>,
  again: () => Promise<Ran<T>>,
): Promise<Ran<T>> {
  try {
    await first;
  } catch (error) {
    // Its form was refused. Other failures, such as of a client that has left, are its own.
    if (error instanceof AppsError && [409, 422].includes(error.status)) throw error;
  }
  return (await answered<T>(exchange, request)) ?? again();
}

/** The kept answer of a request; null where there is none. Errors of a key that its sender has named. */
async function answered<T>(exchange: Exchange, request: Repeatable): Promise<Ran<T> | null> {
  const { services, visit } = exchange;
  const found = await services.answers.find(request.id);
  if (!found) return null;
  await request.bytes?.skipLike(found.fingerprint.slice(request.fingerprint.length + 1));
  const kept = keptIn<T>(found, request);
  await visit.files?.finish(new Set());
  return { ...kept, logs: [], console: [] };
}

function keptIn<T>({ fingerprint, answer, isRunning }: KeptAnswer, request: Repeatable): Kept<T> {
  if (fingerprint !== read(request).fingerprint) {
    const message = `${KEY_HEADER}: this key was sent with another request`;
    throw new AppsError('ValidationError', message, { details: { errors: [{ path: [], message }] } });
  }
  if (isRunning) throw stillRunning(request);
  if (answer === null)
    throw new AppsError('ConflictError', 'This request was answered, and its answer is too large to be kept');
  return JSON.parse(answer);
}

const stillRunning = ({ named }: Repeatable) =>
  new AppsError('ConflictError', `The first request with this ${named ?? KEY_HEADER} is still running`, {
    headers: { 'Retry-After': '1' },
  });

/**
 * As `doneOnce` for work of several transactions, under a key that its sender has named.
 * @param work calls `store` once the body is read and right: the request counts as running from then on
 */
export async function begunOnce<T extends Json>(
  exchange: Exchange,
  request: Repeatable | null,
  work: (once: (store: () => Promise<T>) => Promise<T>) => Promise<T>,
): Promise<T> {
  if (!request) return work((store) => store());
  const known = await answered<T>(exchange, request);
  if (known) return known.value;
  return work((store) => storedOnce(exchange, request, store));
}

async function storedOnce<T extends Json>(
  exchange: Exchange,
  request: Repeatable,
  store: () => Promise<T>,
): Promise<T> {
  const { answers, logger } = exchange.services;
  try {
    await answers.begin(read(request));
  } catch (error) {
    if (!isAnsweredBefore(error)) throw error;
    // Another one has begun, and may have ended, while the body of this one arrived.
    const known = await answered<T>(exchange, request);
    if (known) return known.value;
    throw stillRunning(request);
  }
  let value: T;
  try {
    value = await store();
  } catch (error) {
    // Of what is perhaps stored a second request must not store it again: it counts as running.
    if (!isAppsError(error, 'OutcomeUnknownError')) await answers.end(request, null).catch(() => undefined);
    throw error;
  }
  const kept: Kept<T> = { value, response: { status: null, headers: {}, redirect: null }, flashes: [] };
  // What is stored is answered so, also where the answer cannot be kept.
  await answers.end(request, JSON.stringify(kept)).catch((error: Error) => {
    logger.error(`[apps] the answer to a request could not be kept: ${error.message}`);
  });
  return value;
}
