import type { Core } from '@strapi/strapi';
import { type Live, topics } from '../../apps';
import type { Logger } from '../../common/log';
import type { IndexDeclarations } from '../../indexes/types';
import type { Messages } from '../../processes/types';
import type { AppKey } from '../../records/types';
import { type Changed, createChangeLog, type Publication, publicationOf } from './changes';
import { Conditions } from './conditions';
import { Connections, createTokens, type LiveConnection, positionText, Recent } from './connections';
import { createWaitingPages, type WaitingPagesOptions } from './waiting-pages';

export type { LiveConnection } from './connections';

/** Sends changes of records, made by any server process, to the pages that wait for them. */
export interface LiveChanges extends Live {
  /** Publishes changes to all processes; in a transaction of the host's code after its commit. */
  publish(changed: Changed): void;
  /**
   * Calls `send` with each token whose topic has changed, until the returned function is called. The errors
   * of `WaitingPages.admit`. Unknown tokens are ignored.
   * @param address the client's, as `addressGroup` gives it
   * @param since a position: changes after it are sent too, and all tokens where these are not known
   * @returns `ready` resolves when these are sent
   */
  connect(
    address: string,
    tokens: readonly string[],
    connection: LiveConnection,
    since?: string,
  ): Promise<{ ready: Promise<void>; disconnect: () => void }>;
  /** How many connections are open. */
  open(): number;
  /** Ends all connections. */
  destroy(): Promise<void>;
}

export interface LiveOptions {
  strapi: Core.Strapi;
  logger: Logger;
  messages: Messages;
  /** Counts the pages of an address in all processes. */
  countPages: WaitingPagesOptions['count'];
  /** Gives the current indexes of an app; null where there is no such app. */
  declared(key: AppKey): Promise<IndexDeclarations | null>;
}

export function createLive({ strapi, logger, messages, countPages, declared }: LiveOptions): LiveChanges {
  const [secret = ''] = [strapi.config.get<string[] | string>('server.app.keys')].flat();
  const tokens = createTokens(secret);
  const { origin } = messages;
  const recent = new Recent();
  const open = new Set<LiveConnection>();
  const report = (error: unknown) => logger.warn(`[apps] live fragments: ${(error as Error).message}`);
  const conditions = new Conditions({ declared, report, wake: ({ token }) => connections.send(token) });
  const connections = new Connections(tokens, conditions);

  const deliver = (publication: Publication) => {
    recent.add(publication);
    for (const token of publication.tokens) connections.send(token);
    conditions.changed(new Set(publication.tokens), publication.apps);
  };
  const log = createChangeLog({ messages, report, declared });
  messages.subscribe({
    receive(message, isOld) {
      if (message.tokens.length === 0) return;
      const publication = publicationOf(message);
      if (isOld) recent.add(publication);
      else deliver(publication);
    },
    knowsSince: (at) => recent.foreignSince(at),
  });

  const spread = ({ topics: changed, apps }: Changed) => {
    const keys = new Map(apps.map(({ key }) => [tokens.of(topics.any(key)), key]));
    const records = new Map(apps.map(({ key, records }) => [tokens.of(topics.any(key)), records]));
    const publication = { at: Date.now(), origin, tokens: changed.map(tokens.of), apps: records };
    deliver(publication);
    log.write(publication, keys);
  };

  const pages = createWaitingPages({ count: countPages, report });

  return {
    open: pages.size,
    token: tokens.of,
    position: () => positionText(origin, Date.now()),
    publish(changed) {
      if (!strapi.db.inTransaction()) return spread(changed);
      strapi.db.transaction(({ onCommit }) => onCommit(() => spread(changed))).catch(report);
    },
    async connect(address, asked, connection, since) {
      const leave = await pages.admit(address);
      open.add(connection);
      const subscription = connections.add(connection, asked);
      const { ready, stop } = messages.listen();
      const catchUp = async () => {
        await ready;
        if (since !== undefined && open.has(connection))
          await connections.catchUp(subscription, recent.since(since)).catch(report);
      };
      const disconnect = () => {
        if (!open.delete(connection)) return;
        leave();
        subscription.leave();
        stop();
      };
      return { ready: catchUp(), disconnect };
    },
    async destroy() {
      for (const connection of open) connection.end();
      open.clear();
      await pages.destroy();
      await log.destroy();
    },
  };
}
