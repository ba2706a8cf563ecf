import type { Core } from '@strapi/strapi';
import { type Live, topics } from '../../apps';
import { AppsError } from '../../common/errors';
import type { Logger } from '../../common/log';
import { settledOrTimeout } from '../../common/time/coalesce';
import type { IndexDeclarations } from '../../indexes/types';
import type { Messages } from '../../processes/types';
import type { AppKey } from '../../records/types';
import { type Changed, createChangeLog, type Publication, publicationOf } from './changes';
import { Conditions } from './conditions';
import { Connections, createTokens, type LiveConnection, positionText, Recent } from './connections';

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

interface LiveOptions {
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

/** Pages that wait in one process, and of one client address in all processes together; further ones get `Retry-After`. */
export const MAX_PAGES = 2_000;
export const MAX_PER_ADDRESS = 200;

/** Pages of an address that each process has before it counts them with those of the others: most visitors cost no statement. */
export const UNCOUNTED = 9;

/**
 * Milliseconds after which the pages of a process count no more that gives no sign of life, and between two such signs; until the others
 * know that pages were closed; for which an address that had too many is refused without another count.
 */
const LEASE = 90_000;
const RENEW = 30_000;
const GATHER = 1_000;
const REFUSED = 1_000;

/** Counts the pages that wait for changes: their connections stay open, and one address must leave some to others. */
export interface WaitingPages {
  /**
   * Counts one more page; the returned function takes it back. ServiceUnavailableError when too many wait in this process, RateLimitError
   * when too many of the same client do in any.
   * @param address the client's, as `addressGroup` gives it
   */
  admit(address: string): Promise<() => void>;
  /** How many wait in this process. */
  size(): number;
  /** Takes all back. */
  destroy(): Promise<void>;
}

interface WaitingPagesOptions {
  /** Sets how many pages of an address wait in this process, until a time; gives how many do in all. */
  count(address: string, pages: number, endsAt: number): Promise<number>;
  /** Called with an error of `count`: the bound holds for each process by itself then. */
  report(error: unknown): void;
}

interface Client {
  pages: number;
  /** Those that are being counted. */
  asking: number;
  /** Whether the others know of its pages. */
  isCounted: boolean;
  /** Ends when everything has been counted: one after the other, so that exactly those are refused that are too many. */
  last: Promise<unknown>;
  refusedUntil: number;
}

export function createWaitingPages({ count, report }: WaitingPagesOptions): WaitingPages {
  const clients = new Map<string, Client>();
  /** Addresses whose count is to be corrected. */
  const changed = new Set<string>();
  let size = 0;
  let gathering: NodeJS.Timeout | undefined;
  let renewal: NodeJS.Timeout | undefined;

  function clientOf(address: string): Client {
    const known = clients.get(address);
    if (known) return known;
    const made: Client = { pages: 0, asking: 0, isCounted: false, last: Promise.resolve(), refusedUntil: 0 };
    clients.set(address, made);
    return made;
  }

  /** Few pages are taken out of the count. Null: it could not be counted. */
  async function tell(address: string, client: Client): Promise<number | null> {
    const pages = client.pages > UNCOUNTED ? client.pages : 0;
    client.isCounted = pages > 0;
    renewal ??= setInterval(renew, RENEW).unref();
    try {
      return await count(address, pages, Date.now() + LEASE);
    } catch (error) {
      report(error);
      return null;
    }
  }

  function inTurn<T>(client: Client, work: () => Promise<T>): Promise<T> {
    const done = client.last.then(work);
    client.last = done.catch(() => undefined);
    return done;
  }

  function change(address: string): void {
    changed.add(address);
    gathering ??= setTimeout(correct, GATHER).unref();
  }

  async function correct(): Promise<void> {
    gathering = undefined;
    const addresses = [...changed];
    changed.clear();
    for (const address of addresses) {
      const client = clients.get(address);
      if (!client) continue;
      await inTurn(client, () => tell(address, client));
      forget(address, client);
    }
  }

  function renew(): void {
    for (const [address, { isCounted }] of clients) if (isCounted) change(address);
  }

  function forget(address: string, client: Client): void {
    if (client.pages + client.asking === 0 && !client.isCounted) clients.delete(address);
  }

  function leave(address: string, client: Client): void {
    client.pages -= 1;
    size -= 1;
    if (client.isCounted) change(address);
    else forget(address, client);
  }

  function enter(address: string, client: Client): () => void {
    client.pages += 1;
    size += 1;
    let isLeft = false;
    return () => {
      if (!isLeft) leave(address, client);
      isLeft = true;
    };
  }

  return {
    size: () => size,
    async admit(address) {
      const known = clients.get(address);
      if (known && (known.pages + known.asking >= MAX_PER_ADDRESS || known.refusedUntil > Date.now()))
        throw ofAddress();
      if (size >= MAX_PAGES) throw inProcess();
      const client = known ?? clientOf(address);
      if (client.pages + client.asking < UNCOUNTED) return enter(address, client);
      client.asking += 1;
      return inTurn(client, async () => {
        client.asking -= 1;
        const withdraw = enter(address, client);
        const all = await tell(address, client);
        if (all === null || all <= MAX_PER_ADDRESS) return withdraw;
        client.refusedUntil = Date.now() + REFUSED;
        withdraw();
        throw ofAddress();
      });
    },
    async destroy() {
      clearTimeout(gathering);
      clearInterval(renewal);
      const counted = [...clients].filter(([, { isCounted }]) => isCounted);
      clients.clear();
      await settledOrTimeout(Promise.all(counted.map(([address]) => count(address, 0, 0))));
    },
  };
}

const headers = { 'Retry-After': '30' };
const ofAddress = () => new AppsError('RateLimitError', 'Too many pages of this address wait for changes', { headers });
const inProcess = () => new AppsError('ServiceUnavailableError', 'Too many pages wait for changes', { headers });
