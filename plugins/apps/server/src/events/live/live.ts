import { randomBytes } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import { type Live, topics } from '../../apps';
import { AppsError } from '../../common/errors';
import type { Logger } from '../../common/log';
import type { IndexDeclarations } from '../../indexes/types';
import type { AppKey } from '../../records/types';
import { createChangeLog } from './change-log';
import { Conditions } from './conditions';
import { Connections, type LiveConnection, positionText, Recent } from './connections';
import type { Changed, Publication } from './publish-changes';
import { createTokens } from './tokens';

export type { LiveConnection } from './connections';

/** Open connections of one server process, in all and of one client address; further ones get `Retry-After`. */
const MAX_CONNECTIONS = 2_000;
const MAX_PER_ADDRESS = 200;

/** Sends changes of records, made by any server process, to the pages that wait for them. */
export interface LiveChanges extends Live {
  /** Publishes changes to all processes; in a transaction of the host's code after its commit. */
  publish(changed: Changed): void;
  /**
   * Calls `send` with each token whose topic has changed, until the returned function is called. ServiceUnavailableError
   * when too many connections are open, RateLimitError when too many of them are of the same client. Unknown tokens are ignored.
   * @param address the client's, as `addressGroup` gives it
   * @param since a position: changes after it are sent too, and all tokens where these are not known
   * @returns `ready` resolves when these are sent
   */
  connect(
    address: string,
    tokens: readonly string[],
    connection: LiveConnection,
    since?: string,
  ): { ready: Promise<void>; disconnect: () => void };
  /** How many connections are open. */
  open(): number;
  /** Ends all connections. */
  destroy(): Promise<void>;
}

export interface LiveOptions {
  strapi: Core.Strapi;
  logger: Logger;
  /** Gives the current indexes of an app; null where there is no such app. */
  declared(key: AppKey): Promise<IndexDeclarations | null>;
}

export function createLive({ strapi, logger, declared }: LiveOptions): LiveChanges {
  const [secret = ''] = [strapi.config.get<string[] | string>('server.app.keys')].flat();
  const tokens = createTokens(secret);
  const origin = randomBytes(6).toString('base64url');
  const recent = new Recent();
  const open = new Set<LiveConnection>();
  /** How many connections each client address has. */
  const clients = new Map<string, number>();
  const report = (error: unknown) => logger.warn(`[apps] live fragments: ${(error as Error).message}`);
  const conditions = new Conditions({ declared, report, wake: ({ token }) => connections.send(token) });
  const connections = new Connections(tokens, conditions);

  const deliver = (publication: Publication) => {
    recent.add(publication);
    for (const token of publication.tokens) connections.send(token);
    conditions.changed(new Set(publication.tokens), publication.apps);
  };
  const log = createChangeLog({
    strapi,
    report,
    origin,
    declared,
    receive: (publication, isOld) => (isOld ? recent.add(publication) : deliver(publication)),
    knowsSince: (at) => recent.foreignSince(at),
  });

  const spread = ({ topics: changed, apps }: Changed) => {
    const keys = new Map(apps.map(({ key }) => [tokens.of(topics.any(key)), key]));
    const records = new Map(apps.map(({ key, records }) => [tokens.of(topics.any(key)), records]));
    const publication = { at: Date.now(), origin, tokens: changed.map(tokens.of), apps: records };
    deliver(publication);
    log.write(publication, keys);
  };

  const admit = (address: string): void => {
    const headers = { 'Retry-After': '30' };
    if ((clients.get(address) ?? 0) >= MAX_PER_ADDRESS) {
      throw new AppsError('RateLimitError', 'Too many pages of this address wait for changes', { headers });
    }
    if (open.size >= MAX_CONNECTIONS) {
      throw new AppsError('ServiceUnavailableError', 'Too many pages wait for changes', { headers });
    }
  };

  return {
    open: () => open.size,
    token: tokens.of,
    position: () => positionText(origin, Date.now()),
    publish(changed) {
      if (!strapi.db.inTransaction()) return spread(changed);
      strapi.db.transaction(({ onCommit }) => onCommit(() => spread(changed))).catch(report);
    },
    connect(address, asked, connection, since) {
      admit(address);
      open.add(connection);
      clients.set(address, (clients.get(address) ?? 0) + 1);
      const subscription = connections.add(connection, asked);
      const { ready, stop } = log.listen();
      const catchUp = async () => {
        await ready;
        if (since !== undefined && open.has(connection))
          await connections.catchUp(subscription, recent.since(since)).catch(report);
      };
      const disconnect = () => {
        if (!open.delete(connection)) return;
        const rest = (clients.get(address) ?? 1) - 1;
        if (rest > 0) clients.set(address, rest);
        else clients.delete(address);
        subscription.leave();
        stop();
      };
      return { ready: catchUp(), disconnect };
    },
    async destroy() {
      for (const connection of open) connection.end();
      open.clear();
      clients.clear();
      await log.destroy();
    },
  };
}
