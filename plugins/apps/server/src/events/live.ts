import { createHmac } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Live, Topic } from '../apps';
import { AppsError } from '../errors';
import type { Logger } from '../log';
import { createChangeLog } from './change-log';

/** Pages that may wait at one server process, in all and from one client address; the next is asked to come again. */
const MAX_CONNECTIONS = 2_000;
const MAX_PER_ADDRESS = 200;

/** Changes of records, from whichever server process made them to the pages that wait for them. */
export interface LiveChanges extends Live {
  /** Tells all processes that these have changed. */
  publish(changed: Iterable<Topic>): void;
  /**
   * Calls `tell` with each token whose topic has changed, until the returned function is called.
   * ServiceUnavailableError when too many wait already, RateLimitError when too many of them are of the same client.
   * @param address the client's, as `addressGroup` gives it
   */
  connect(address: string, tokens: readonly string[], connection: LiveConnection): () => void;
  /** Ends all connections. */
  destroy(): void;
}

export interface LiveConnection {
  tell(token: string): void;
  end(): void;
}

export function createLive({ strapi, logger }: { strapi: Core.Strapi; logger: Logger }): LiveChanges {
  const [secret = ''] = [strapi.config.get<string[] | string>('server.app.keys')].flat();
  const connections = new Map<LiveConnection, ReadonlySet<string>>();
  /** How many connections each client address has. */
  const clients = new Map<string, number>();
  const token = (topic: Topic) =>
    createHmac('sha256', `apps-live:${secret}`).update(topic).digest('base64url').slice(0, 20);

  const hear = (changed: readonly string[]) => {
    for (const [connection, tokens] of connections) {
      for (const one of changed) if (tokens.has(one)) connection.tell(one);
    }
  };
  const log = createChangeLog({ strapi, logger, hear });

  return {
    token,
    publish(changed) {
      const tokens = [...changed].map(token);
      hear(tokens);
      log.write(tokens);
    },
    connect(address, tokens, connection) {
      const own = clients.get(address) ?? 0;
      const headers = { 'Retry-After': '30' };
      if (own >= MAX_PER_ADDRESS) {
        throw new AppsError('RateLimitError', 'Too many pages of this address wait for changes', { headers });
      }
      if (connections.size >= MAX_CONNECTIONS) {
        throw new AppsError('ServiceUnavailableError', 'Too many pages wait for changes', { headers });
      }
      connections.set(connection, new Set(tokens));
      clients.set(address, own + 1);
      const stop = log.listen();
      return () => {
        if (!connections.delete(connection)) return;
        const rest = (clients.get(address) ?? 1) - 1;
        if (rest > 0) clients.set(address, rest);
        else clients.delete(address);
        stop();
      };
    },
    destroy() {
      for (const connection of connections.keys()) connection.end();
      connections.clear();
      clients.clear();
      log.destroy();
    },
  };
}
