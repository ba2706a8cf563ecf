/** What the server processes on one database tell each other (docs/decisions/processes.md). */
import { randomBytes } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import { createSql, dialects, type HostDatabase } from '../database';
import { createMessages, type MessageRow } from './messages';
import { createRedis } from './redis';
import { createSignals } from './signals';
import type { Messages, Redis, Signals } from './types';

export { MESSAGE_LIFETIME } from './messages';

const columns = ['origin', 'tokens', 'records', 'created_at', 'updated_at'];

/** This process among the others. */
export interface Processes {
  signals: Signals;
  messages: Messages;
  /** Null: none is configured. */
  redis: Redis | null;
  /** Sends what waits, and ends. */
  destroy(): Promise<void>;
}

/**
 * @param redisUrl address of a Redis, with its password; '': none
 * @throws Error where the host lacks the client for it
 */
export function createProcesses(
  { strapi, database, logger }: { strapi: Core.Strapi; database: HostDatabase; logger: Logger },
  redisUrl: string,
): Processes {
  const redis = redisUrl === '' ? null : createRedis({ url: redisUrl, root: strapi.dirs.app.root, logger });
  const origin = randomBytes(6).toString('base64url');
  const signals = createSignals({ database, logger, origin, redis });
  const report = (error: unknown) => logger.warn(`[apps] messages of other processes: ${(error as Error).message}`);
  const dialect = dialects[database.client];
  const insert = ({ origin, tokens, records }: Omit<MessageRow, 'id'>) =>
    database.write(async (connection) => {
      const now = new Date();
      await createSql(connection, dialect).insert('apps_changes', columns, [[origin, tokens, records, now, now]]);
    });
  const messages = createMessages({ strapi, insert, signals, origin, report });
  return {
    signals,
    messages,
    redis,
    async destroy() {
      messages.destroy();
      await signals.destroy();
      redis?.destroy();
    },
  };
}
