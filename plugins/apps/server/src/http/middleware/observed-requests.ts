import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Context, Middleware, Next } from 'koa';
import { OwnValue, RequestSet } from '../../common/request-objects';

import { type SpanAttributes, spanned } from '../../common/spans';
import type { HttpServices } from '../request/exchange';
import { addressOf, isOurs } from '../request/locate';
import { giveRequestId } from '../response/respond-error';

/** What a span says of a request by its address. */
function aboutOf(ctx: Context): SpanAttributes {
  const { method } = ctx;
  const address = addressOf(ctx);
  if (!address) return { method };
  const about = { method, site: address.site, address: address.kind };
  return address.kind === 'app' ? { ...about, app: address.app } : about;
}

/**
 * A middleware around all of Strapi's for requests at the plugin's addresses: gives each an id, counts it and makes it a span. Must be
 * used before Strapi's own are, in `register`.
 */
export function createObservedRequests(running: () => HttpServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    const services = running();
    // Before anything names the address, such as Strapi's log: it may have a token.
    if (!services || !isOurs(ctx, services.sites)) return next();
    const id = giveRequestId(ctx);
    const begun = performance.now();
    try {
      const outcome = () => ({ attributes: { status: ctx.status }, isError: ctx.status >= 500 });
      await spanned('request', () => ({ ...aboutOf(ctx), request_id: id }), next, outcome);
    } finally {
      services.metrics.request(ctx.state.appsAbout ?? null, ctx.status, performance.now() - begun);
    }
  };
}

/** Milliseconds that a process which ends gives its open requests; a service of the system waits longer (docs/limits.md). */
export const DRAIN_TIME = 10_000;

/**
 * Milliseconds for which a process that ends waits for requests over connections that clients keep. A proxy that sends one at the moment
 * at which its connection is closed does not know whether it was read, and sends a form to no other server (docs/limits.md).
 */
export const KEPT_TIME = 2_000;

/** Milliseconds between two looks for open requests. */
const LOOK = 20;

/** The requests of a server that are being answered, of the plugin and of the rest of Strapi. */
export interface OpenRequests {
  /** Whether the process ends: it is not ready, and each answer closes its connection. */
  isEnding(): boolean;
  /**
   * Closes each connection with its next answer. When none is kept without a request any more, after 2 s at the latest, takes no more
   * connections, and resolves when the open requests are answered, after 10 s at the latest. Streams of events end with their process:
   * they are not waited for.
   * @param waits false: closes connections without a request at once, because the process will serve again
   */
  drain(waits: boolean): Promise<void>;
}

async function lookUntil(isDone: () => boolean, time: number): Promise<void> {
  for (const end = performance.now() + time; !isDone() && performance.now() < end; ) await pause(LOOK);
}

/**
 * Watches the requests of a server. When Strapi ends it breaks all connections, after the plugins have ended: what is answered until
 * then is answered whole.
 */
export function watchRequests(server: Server): OpenRequests {
  const open = new RequestSet<ServerResponse>();
  /** Whether a request was answered over a connection, and the next one may come. */
  const kept = new OwnValue<Socket, boolean>('kept without a request');
  let keptCount = 0;
  const keep = (socket: Socket, isKept: boolean) => {
    if ((kept.get(socket) ?? false) === isKept) return;
    kept.set(socket, isKept);
    keptCount += isKept ? 1 : -1;
  };
  let accepted = 0;
  let isEnding = false;
  // A client that keeps its connection would lose the next request that it sends.
  const closeAfter = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.on('connection', (socket) => {
    accepted += 1;
    socket.once('close', () => keep(socket, false));
  });
  server.prependListener('request', ({ socket }, response) => {
    const entry = open.add(response);
    keep(socket, false);
    response.once('close', () => {
      open.delete(entry);
      if (response.shouldKeepAlive && !socket.destroyed) keep(socket, true);
    });
    if (isEnding) closeAfter(response);
  });
  const isWaitedFor = (response: ServerResponse) =>
    !String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');
  return {
    isEnding: () => isEnding,
    async drain(waits) {
      isEnding = true;
      for (const response of open.values()) closeAfter(response);
      await lookUntil(() => keptCount === 0, waits ? KEPT_TIME : 0);
      // The system resets connections that wait to be accepted.
      for (let before = -1; before !== accepted; await nextTurn()) before = accepted;
      if (server.listening) server.close();
      await lookUntil(() => open.find(isWaitedFor) === undefined, DRAIN_TIME);
    },
  };
}
