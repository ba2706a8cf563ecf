import type { Logger } from '../common/log';
import type { HostDatabase, ServerSession } from '../database';
import type { Channel, Redis, RedisClient, Signals } from './types';

/** Milliseconds between two signals of one process about a topic, and before a lost connection is made again. */
const PAUSE = 100;
const RETRY = 1_000;

const topics: readonly Channel[] = ['changes', 'jobs'];

/** PostgreSQL's channel of a topic, and Redis'. */
const channelOf = (topic: string): string => `apps_${topic}`;
const topicOf = (channel: string): Channel | undefined => topics.find((topic) => channelOf(topic) === channel);

const POOLED =
  "[apps] news of other processes, such as jobs, is looked for each second: a pooler is in front of PostgreSQL. With 'directConnection' in the configuration of the plugin 'apps' the server tells of it";

/** What signals are sent by. */
interface Carrier {
  isReliable(): boolean;
  send(topic: Channel): Promise<unknown>;
  /** @param receive called with the topic and the sender of each signal, and with each topic after some may have been lost */
  listen(receive: (topic: Channel, origin?: string) => void): void;
  destroy(): Promise<void>;
}

export interface SignalsOptions {
  database: HostDatabase;
  logger: Logger;
  /** Names this process: letters, digits, `-` and `_`. */
  origin: string;
  /** Null: none is configured. */
  redis?: Redis | null;
}

/**
 * By Redis where there is one, else by `notify` of PostgreSQL, else not at all. A signal only says where to look: what is new is in
 * the database.
 */
export function createSignals({ database, logger, origin, redis = null }: SignalsOptions): Signals {
  const warn = (error: unknown) => logger.warn(`[apps] signals to other processes: ${(error as Error).message}`);
  const carrier = redis ? redisCarrier({ redis, origin, warn }) : postgresCarrier({ database, logger, origin, warn });
  const receivers = new Map<Channel, () => void>();
  const sending = new Map<Channel, NodeJS.Timeout>();
  let ended = false;

  const send = async (topic: Channel): Promise<void> => {
    sending.delete(topic);
    await carrier?.send(topic).catch(warn);
  };

  return {
    isReliable: () => carrier?.isReliable() ?? false,
    send(topic) {
      if (ended || !carrier || sending.has(topic)) return;
      sending.set(topic, setTimeout(() => void send(topic), PAUSE).unref());
    },
    on: (topic, receive) => void receivers.set(topic, receive),
    listen() {
      carrier?.listen((topic, from) => {
        if (!ended && from !== origin) receivers.get(topic)?.();
      });
    },
    async destroy() {
      ended = true;
      const waiting = [...sending.keys()];
      for (const timer of sending.values()) clearTimeout(timer);
      // A command that stores jobs ends before the pause does. For changes each process looks every second in any case.
      if (waiting.includes('jobs')) await send('jobs');
      await carrier?.destroy();
    },
  };
}

interface RedisOptions {
  redis: Redis;
  origin: string;
  warn(error: unknown): void;
}

/** A signal that cannot be sent is lost, and so is one to a process that is not connected: each process looks too. */
function redisCarrier({ redis, origin, warn }: RedisOptions): Carrier {
  let hearing: RedisClient | undefined;
  let ended = false;
  return {
    isReliable: () => false,
    async send(topic) {
      await redis.use(
        () => redis.client.publish(channelOf(topic), origin),
        async () => undefined,
      );
    },
    listen(receive) {
      hearing = redis.client.duplicate();
      // The first client has said that Redis is away.
      hearing.on('error', () => undefined);
      hearing.on('ready', () => {
        for (const topic of topics) receive(topic);
      });
      const heard = (from: string, channel: string) => {
        const topic = topicOf(channel);
        if (topic) receive(topic, from);
      };
      // The client subscribes again by itself after each loss of its connection.
      const connected = hearing.connect().then(() => hearing?.subscribe(topics.map(channelOf), heard));
      connected.catch((error) => {
        if (!ended) warn(error);
      });
    },
    async destroy() {
      ended = true;
      hearing?.destroy();
    },
  };
}

interface PostgresOptions {
  database: HostDatabase;
  logger: Logger;
  origin: string;
  warn(error: unknown): void;
}

/** Null for another database. Once a lost connection is there again, this process looks. */
function postgresCarrier({ database, logger, origin, warn }: PostgresOptions): Carrier | null {
  const open = database.openSession;
  if (!open) return null;
  let receive: Parameters<Carrier['listen']>[0] = () => undefined;
  let connection: ServerSession | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const again = () => {
    connection = undefined;
    if (ended) return;
    clearTimeout(timer);
    timer = setTimeout(listen, RETRY).unref();
  };

  async function connect(): Promise<void> {
    const made = await (open as NonNullable<typeof open>)();
    if (!made) {
      if (!ended) logger.info(POOLED);
      return;
    }
    made.on('error', warn);
    made.on('notification', ({ channel, payload }) => {
      const topic = topicOf(channel);
      if (topic) receive(topic, payload);
    });
    try {
      await made.query(topics.map((topic) => `listen ${channelOf(topic)}`).join('; '));
    } catch (error) {
      made.end().catch(() => undefined);
      throw error;
    }
    if (ended) return made.end();
    made.on('end', again);
    connection = made;
    // What was stored while nothing was heard.
    for (const topic of topics) receive(topic);
  }

  function listen(): void {
    connect().catch((error) => {
      warn(error);
      again();
    });
  }

  return {
    isReliable: () => connection !== undefined,
    send: async (topic) => database.knex().raw(`notify ${channelOf(topic)}, '${origin}'`),
    listen(heard) {
      receive = heard;
      listen();
    },
    async destroy() {
      ended = true;
      clearTimeout(timer);
      await connection?.end().catch(() => undefined);
    },
  };
}
