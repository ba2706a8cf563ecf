import type { Logger } from '../common/log';
import type { HostDatabase, ServerSession } from '../indexes';

const CHANNEL = 'apps_jobs';

/** Milliseconds between two notifications of one process, and before a lost connection is made again. */
const PAUSE = 100;
const RETRY = 1_000;

const POOLED =
  "[apps] jobs of other processes are looked for each second: a pooler is in front of PostgreSQL. With 'directConnection' in the configuration of the plugin 'apps' the server tells of them";

/** Tells other processes of new jobs, and hears of theirs. Only PostgreSQL can; other databases are asked each second. */
export interface Notifications {
  /** Whether this process hears of the jobs of others, so that it need not ask. */
  isListening(): boolean;
  /** Tells the other processes that there are jobs to be done. */
  send(): void;
  listen(): void;
  destroy(): Promise<void>;
}

/** @param receive called when there may be new jobs */
export function createNotifications(
  { database, logger }: { database: HostDatabase; logger: Logger },
  receive: () => void,
): Notifications {
  const open = database.openSession;
  if (!open) return { isListening: () => false, send: () => {}, listen: () => {}, destroy: async () => {} };
  let connection: ServerSession | undefined;
  let timer: NodeJS.Timeout | undefined;
  let sending: NodeJS.Timeout | undefined;
  let ended = false;
  const warn = (error: unknown) => logger.warn(`[apps] jobs: notifications: ${(error as Error).message}`);

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
    made.on('notification', receive);
    try {
      await made.query(`listen ${CHANNEL}`);
    } catch (error) {
      made.end().catch(() => undefined);
      throw error;
    }
    if (ended) return made.end();
    made.on('end', again);
    connection = made;
    // What was stored while nothing was heard.
    receive();
  }

  function listen(): void {
    connect().catch((error) => {
      warn(error);
      again();
    });
  }

  const notify = (): Promise<unknown> => {
    sending = undefined;
    return Promise.resolve(database.knex().raw(`notify ${CHANNEL}`)).catch(warn);
  };

  return {
    isListening: () => connection !== undefined,
    send() {
      if (!ended) sending ??= setTimeout(() => void notify(), PAUSE).unref();
    },
    listen,
    async destroy() {
      ended = true;
      clearTimeout(timer);
      clearTimeout(sending);
      // A command that stores jobs ends before the pause does.
      if (sending) await notify();
      await connection?.end().catch(() => undefined);
    },
  };
}
