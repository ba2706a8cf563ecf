import { createHmac } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Live, Topic } from '../apps';
import { AppsError } from '../common/errors';
import type { Logger } from '../common/log';
import { createChangeLog } from './change-log';

/** Open connections of one server process, in all and of one client address; further ones get `Retry-After`. */
const MAX_CONNECTIONS = 2_000;
const MAX_PER_ADDRESS = 200;

/** Sends changes of records, made by any server process, to the pages that wait for them. */
export interface LiveChanges extends Live {
  /** Publishes changed topics to all processes. */
  publish(changed: Iterable<Topic>): void;
  /**
   * Calls `send` with each token whose topic has changed, until the returned function is called. ServiceUnavailableError
   * when too many connections are open, RateLimitError when too many of them are of the same client.
   * @param address the client's, as `addressGroup` gives it
   */
  connect(address: string, tokens: readonly string[], connection: LiveConnection): () => void;
  /** Ends all connections. */
  destroy(): void;
}

export interface LiveConnection {
  send(token: string): void;
  end(): void;
}

export function createLive({ strapi, logger }: { strapi: Core.Strapi; logger: Logger }): LiveChanges {
  const [secret = ''] = [strapi.config.get<string[] | string>('server.app.keys')].flat();
  const connections = new Map<LiveConnection, ReadonlySet<string>>();
  /** How many connections each client address has. */
  const clients = new Map<string, number>();
  const token = (topic: Topic) =>
    createHmac('sha256', `apps-live:${secret}`).update(topic).digest('base64url').slice(0, 20);

  const receive = (changed: readonly string[]) => {
    for (const [connection, tokens] of connections) {
      for (const one of changed) if (tokens.has(one)) connection.send(one);
    }
  };
  const log = createChangeLog({ strapi, logger, receive });

  return {
    token,
    publish(changed) {
      const tokens = [...changed].map(token);
      receive(tokens);
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
