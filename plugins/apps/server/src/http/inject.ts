import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { notFound } from '../common/errors';
import type { Address } from '../sites/types';
import { answer, errorViewOf } from './pipeline';
import { arrivedRequest, type HttpServices, type InjectedAnswer, type InjectedRequest } from './request/exchange';
import { locate } from './request/locate';
import { overlaid, prefersJson } from './request/negotiate';
import { earlyView, respondError } from './response/respond-error';

/** Bytes of an answer; the rest is cut. */
const MAX_ANSWER = 2_000_000;

/** Addresses that the panel shows. */
const shownKinds: ReadonlySet<Address['kind']> = new Set(['app', 'page', 'view']);

/** Makes the Koa context of a request that came over no connection. */
export type CreateContext = (request: IncomingMessage, response: ServerResponse) => Context;

/**
 * Answers a request that the admin panel makes in the name of a requester, by the same functions as one from a browser, but
 * with writes switched off: nothing is committed, no mail is sent, no content is changed (docs/decisions/runs.md).
 */
export async function inject(
  services: HttpServices,
  createContext: CreateContext,
  request: InjectedRequest,
): Promise<InjectedAnswer> {
  const ctx = contextOf(createContext, request);
  const { requester, dry, overlay } = request;
  const { address, error } = locate(ctx, services.sites);
  if (!address || !shownKinds.has(address.kind)) {
    await respondError(ctx, error ?? notFound('This address shows no app'), earlyView(ctx, services));
  } else {
    const seen = overlay ? overlaid(services, overlay) : services;
    const sender = { kind: 'panel', requester, dry } as const;
    const arrived = arrivedRequest({ ctx, services: seen, address, sender, json: prefersJson(ctx) });
    try {
      await answer(arrived);
    } catch (error) {
      await respondError(ctx, error, errorViewOf(arrived, services.logger));
    }
  }
  const text = await textOf(ctx.body);
  return { status: ctx.status, type: ctx.type, location: ctx.response.get('Location') || null, text };
}

function contextOf(createContext: CreateContext, request: InjectedRequest): Context {
  const { method, path, headers, body } = request;
  const message = new IncomingMessage(new Socket());
  const length: Record<string, string> = body === undefined ? {} : { 'content-length': '1' };
  Object.assign(message, { method, url: path, headers: { ...headers, ...length } });
  message.push(null);
  const ctx = createContext(message, new ServerResponse(message));
  (ctx.request as { body?: unknown }).body = body ?? {};
  return ctx;
}

async function textOf(body: unknown): Promise<string> {
  if (typeof body === 'string') return body.slice(0, MAX_ANSWER);
  if (Buffer.isBuffer(body)) return body.toString('utf8', 0, MAX_ANSWER);
  if (!(body instanceof Readable)) return body === undefined || body === null ? '' : JSON.stringify(body);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > MAX_ANSWER) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_ANSWER);
}
