import type { Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds that a process which ends gives its open requests; a service of the system waits longer (docs/limits.md). */
export const DRAIN_TIME = 10_000;

/** Milliseconds between two looks for open requests. */
const LOOK = 20;

/** The requests of a server that are being answered, of the plugin and of the rest of Strapi. */
export interface OpenRequests {
  /** Whether the server takes no more connections, because its process ends. */
  isEnding(): boolean;
  /**
   * Takes no more connections, and resolves when the open requests are answered, after 10 s at the latest. Streams of events end
   * with their process: they are not waited for.
   */
  drain(): Promise<void>;
}

/**
 * Watches the requests of a server. When Strapi ends it breaks all connections, after the plugins have ended: what is answered until
 * then is answered whole.
 */
export function watchRequests(server: Server): OpenRequests {
  const open = new Set<ServerResponse>();
  let isEnding = false;
  // A client that keeps its connection would lose the next request that it sends.
  const closeAfter = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  server.prependListener('request', (_request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    if (isEnding) closeAfter(response);
  });
  const isWaitedFor = (response: ServerResponse) =>
    !String(response.getHeader('Content-Type') ?? '').startsWith('text/event-stream');
  return {
    isEnding: () => isEnding,
    async drain() {
      isEnding = true;
      if (server.listening) server.close();
      for (const response of open) closeAfter(response);
      const until = performance.now() + DRAIN_TIME;
      while ([...open].some(isWaitedFor) && performance.now() < until) await pause(LOOK);
    },
  };
}
