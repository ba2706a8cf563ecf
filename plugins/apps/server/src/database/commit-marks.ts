import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { AppsError } from '../common/errors';
import { within } from '../common/time/pace';
import type { Dialect } from './dialects';
import { createSql, OUTAGE } from './sql';
import type { CommitMark, CommitMarks, Reader, Sql } from './types';

/** Counts of commits (records/commits/commits.ts), whose rows are marks too. */
export const COUNTS = 'apps_commit_counts';
const COLUMNS = ['scope', 'process', 'commits', 'at'] as const;

/** The scope of the mark of a transaction that counts nothing. */
const UNCOUNTED = '-';

/** Milliseconds between two tries to look a commit up. */
const LOOK_PAUSE = 100;

/** COMMIT has failed, or its answer was lost: the driver's error. */
export class CommitFailed extends Error {
  constructor(override readonly cause: unknown) {
    super('COMMIT has failed', { cause });
  }
}

/** Runs `work` in a transaction. Rejects with its error after a rollback, with CommitFailed after a COMMIT that has failed. */
type Transact<C extends Knex | Reader> = <T>(work: (connection: C) => Promise<T>) => Promise<T>;

export const outcomeUnknown = (cause: unknown): AppsError =>
  new AppsError(
    'OutcomeUnknownError',
    'The connection to the database was lost during the commit: it is not known whether the change was stored. Look at it before you send it again',
    { cause },
  );

/** Marks of the transactions of this process, by which it is found out which were committed: see docs/decisions/unknown-commits.md. */
export interface OwnCommitMarks extends CommitMarks {
  /**
   * Makes transactions whose outcome is known: one that was committed resolves, even if the answer to its COMMIT was lost; one that
   * was not rejects with the driver's error. OutcomeUnknownError when that cannot be found out in time.
   */
  certain<C extends Knex | Reader>(transact: Transact<C>): Transact<C>;
}

interface MarkOptions {
  /** Milliseconds for which a commit is looked up. */
  time?: number;
  /** Gets a line of the log for each commit that was looked up. */
  report?: (line: string) => void;
}

/** @param reader for statements outside of any transaction */
export function createCommitMarks(
  reader: () => Knex | Reader,
  dialect: Dialect,
  { time = OUTAGE, report = () => {} }: MarkOptions = {},
): OwnCommitMarks {
  const sql = () => createSql(reader(), dialect);
  const process = randomBytes(8).toString('hex');
  /** Begins with the time: greater than those that an older release has counted. */
  let number = Date.now();
  const freeSlots: number[] = [];
  let slots = 0;
  /** The transactions that are looked up, with their marks once they have one. */
  const own = new WeakMap<object, CommitMark | null>();
  let preparing: Promise<void> | undefined;

  const take = (): CommitMark => {
    const slot = freeSlots.pop() ?? slots++;
    number += 1;
    return { slot, process: `${process}.${slot}`, number, scope: null };
  };

  const free = ({ slot }: CommitMark): void => void freeSlots.push(slot);

  const of = (connection: object): CommitMark | undefined => {
    const known = own.get(connection);
    if (known !== null) return known;
    const mark = take();
    own.set(connection, mark);
    return mark;
  };

  const write = async (transaction: Sql, mark: CommitMark): Promise<void> => {
    const row = [UNCOUNTED, mark.process, mark.number, Date.now()];
    await transaction.insert(COUNTS, COLUMNS, [row], dialect.countAgain);
    mark.scope = UNCOUNTED;
  };

  /** Whether the row has the number. Both statements wait while the transaction that may have written it has not ended. */
  const look = async ({ scope, process: owner, number: wanted }: CommitMark): Promise<boolean> => {
    const { verb, ending } = dialect.insertIgnore;
    number += 1;
    await sql().insert(COUNTS, COLUMNS, [[scope, owner, number, Date.now()]], ending, verb);
    const text = `select commits from ${COUNTS} where scope = ? and process = ?${dialect.updateLock}`;
    const [row] = await sql().rows(text, [scope, owner]);
    return Number(row?.commits) === wanted;
  };

  /** @param cause why it is looked up */
  const wasCommitted = async (mark: CommitMark, cause: unknown): Promise<boolean> => {
    const until = performance.now() + time;
    for (;;) {
      // Any error of a server that starts, or is no primary yet, is one of the moment.
      const looked = await within(look(mark), until - performance.now(), false).catch(() => null);
      if (looked === 'late') break;
      if (looked) {
        report(`the answer to a COMMIT was lost; the transaction was ${looked.value ? '' : 'not '}stored`);
        return looked.value;
      }
      if (performance.now() + LOOK_PAUSE >= until) break;
      await pause(LOOK_PAUSE);
    }
    report('the answer to a COMMIT was lost; it is not known whether the transaction was stored');
    throw outcomeUnknown(cause);
  };

  const prepare = (): Promise<void> => {
    preparing ??= createTable(sql(), dialect).catch((error) => {
      preparing = undefined;
      throw error;
    });
    return preparing;
  };

  return {
    process,
    prepare,
    of,
    take,
    free,
    certain: (transact) => async (work) => {
      await prepare();
      let mark: CommitMark | undefined;
      let done: { result: Awaited<ReturnType<typeof work>> } | undefined;
      let isKnown = true;
      try {
        return await transact(async (connection) => {
          own.set(connection, null);
          try {
            const result = await work(connection);
            mark = of(connection) as CommitMark;
            if (mark.scope === null) await write(createSql(connection, dialect), mark);
            done = { result };
            return result;
          } finally {
            mark = own.get(connection) ?? undefined;
          }
        });
      } catch (error) {
        if (!(error instanceof CommitFailed)) throw error;
        if (!done || !mark) throw error.cause;
        isKnown = false;
        const isStored = await wasCommitted(mark, error.cause);
        isKnown = true;
        if (!isStored) throw error.cause;
        return done.result;
      } finally {
        // The row of one whose outcome is unknown may still be written.
        if (mark && isKnown) free(mark);
      }
    },
  };
}

async function createTable(sql: Sql, dialect: Dialect): Promise<void> {
  await sql.change(
    `create table if not exists ${COUNTS} (scope varchar(64) not null, process varchar(32) not null, commits bigint not null, at bigint not null, primary key (scope, process))${dialect.tableEnding}`,
  );
}
