import { createRequire } from 'node:module';
import type { Logger } from '../common/log';
import { within } from '../common/time/pace';
import type { Redis, RedisClient } from './types';

/** Milliseconds that Redis may take to answer, that an answer may take to be read, and for which it is not asked after it has not. */
const MAX_WAIT = 500;
const GRACE = 50;
const PAUSE = 5_000;

/**
 * Milliseconds between two signs of life, and without one until a connection is closed: less than the pause, in which nothing else is
 * sent. Before another attempt to connect.
 */
const PING = 1_000;
const SILENCE = 3_000;
const RETRY = 1_000;

const AWAY =
  '[apps] Redis is away: attempts and rates are counted in the database, and news of other processes is looked for each second';
const BACK = '[apps] Redis is there';

type CreateClient = (options: object) => RedisClient;

/**
 * The package `redis`, as one of these files would import it.
 * @throws Error that says what to install, where none of them can
 */
export function loadClient(files: readonly string[]): CreateClient {
  for (const from of files) {
    try {
      return (createRequire(from)('redis') as { createClient: CreateClient }).createClient;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Error(
    `Configuration of the plugin 'apps': 'redis.url' needs the package 'redis', which is not installed: npm install redis`,
  );
}

/**
 * Begins to connect. What the log says is said once for each time that Redis goes away or comes back, and never has the address, which may
 * have a password.
 * @param root the host's folder
 */
export function createRedis({ url, root, logger }: { url: string; root: string; logger: Logger }): Redis {
  const client = loadClient([`${root}/package.json`, __filename])({
    url,
    // What cannot be asked now goes to the database.
    disableOfflineQueue: true,
    pingInterval: PING,
    socket: { connectTimeout: SILENCE, socketTimeout: SILENCE, reconnectStrategy: () => RETRY },
  });
  let isAway = false;
  let pausedUntil = 0;
  let ended = false;

  function away(error: unknown): void {
    if (isAway || ended) return;
    isAway = true;
    logger.warn(`${AWAY}: ${(error as Error).message || 'it cannot be reached'}`);
  }

  function back(): void {
    pausedUntil = 0;
    if (isAway) logger.info(BACK);
    isAway = false;
  }

  client.on('error', away);
  client.on('ready', back);
  client.connect().catch(away);

  const isReady = () => client.isReady && Date.now() >= pausedUntil;

  return {
    client,
    isReady,
    async use(ask, otherwise) {
      if (!isReady()) return otherwise();
      try {
        const asked = ask();
        let done = await within(asked, MAX_WAIT);
        // An answer that came while this process was busy has not been read yet.
        if (done === 'late') done = await within(asked, GRACE);
        if (done !== 'late') {
          if (isAway) back();
          return done.value;
        }
        throw new Error('it does not answer');
      } catch (error) {
        // For a while everything is counted in one place.
        pausedUntil = Date.now() + PAUSE;
        away(error);
        return otherwise();
      }
    },
    destroy() {
      ended = true;
      client.destroy();
    },
  };
}
