import type { AppMails } from '../../../shared/admin-api';
import type { HostDatabase } from '../indexes';
import type { AppKey } from '../records/types';
import {
  claimNext,
  countStates,
  freeAt,
  giveUp,
  type Held,
  hold,
  keyOf,
  MAX_HELD,
  nextAt,
  type Transaction,
  triedOf,
  unsentApps,
} from './statements';
import type { MailRow } from './types';

const RATES = 'apps_mail_rates';

export interface Outbox {
  /**
   * Claims an attempt to send a mail of the app: the oldest one of the block that has sent the least lately. The attempt is
   * committed before it is returned, so that no two processes make it, and so that in any hour at most `limit` attempts of the
   * app begin, of all processes. Null when there is no mail to be sent, and when the rate is used up: what is to be sent waits
   * then, and several of one kind have become one.
   */
  claim(key: AppKey): Promise<MailRow | null>;
  /** The apps that have mails to be sent, now or later. */
  apps(): Promise<AppKey[]>;
  /** When an app's next mail may be sent, in milliseconds since the epoch; null: it has none to be sent. */
  next(key: AppKey): Promise<number | null>;
  state(key: AppKey): Promise<AppMails>;
}

interface OutboxTools {
  database: HostDatabase;
  /** Mails of an app in one site in an hour. */
  limit: number;
  /** Called with a number of mails that are kept without an attempt. */
  onKept(key: AppKey, count: number, reason: string): void;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** Which mail is sent next, for all processes (docs/decisions/mail.md). */
export function createOutbox({ database, limit, onKept, now = Date.now }: OutboxTools): Outbox {
  let last: Promise<unknown> = Promise.resolve();

  /** Runs `work` while no other process claims a mail of the app. */
  async function locked<T>(key: AppKey, work: (trx: Transaction) => Promise<T>): Promise<T> {
    for (;;) {
      const done = await database.transaction(async (trx) => {
        // The first statement: what is read after it is what the processes before have committed.
        const rows = await trx(RATES).where(keyOf(key)).update({ locked_at: now() });
        return rows > 0 ? { result: await work(trx) } : null;
      });
      if (done) return done.result;
      const row = { ...keyOf(key), locked_at: 0 };
      await database.knex()(RATES).insert(row).onConflict(['site', 'app']).ignore();
    }
  }

  /** One claim at a time: each that waits for another would keep a connection of the pool. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  async function claimOnce(trx: Transaction, key: AppKey): Promise<MailRow | Held | null> {
    const at = now();
    if (limit === 0) return giveUp(trx, key, at);
    return (await triedOf(trx, key, at)) < limit ? claimNext(trx, key, at) : hold(trx, key, { limit, at });
  }

  return {
    async claim(key) {
      for (;;) {
        const claimed = await inOrder(() => locked(key, (trx) => claimOnce(trx, key)));
        if (claimed === null || 'mailId' in claimed) return claimed;
        if (claimed.kept > 0) onKept(key, claimed.kept, claimed.reason);
        if (claimed.count < MAX_HELD) return null;
      }
    },
    apps: () => unsentApps(database.knex()),
    next: (key) => nextAt(database.knex(), key, { limit, at: now() }),
    async state(key) {
      const [db, at] = [database.knex(), now()];
      const counts = await countStates(db, key);
      const next = counts.waiting === 0 ? null : await freeAt(db, key, { limit, at });
      return {
        ...counts,
        tried: await triedOf(db, key, at),
        next: next === null ? null : new Date(Math.max(at, next)).toISOString(),
      };
    },
  };
}
