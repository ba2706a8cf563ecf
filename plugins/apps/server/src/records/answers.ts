import { AsyncLocalStorage } from 'node:async_hooks';
import { AppsError, isAppsError } from '../common/errors';
import { createSql, dialects, type HostDatabase, isFailure, readerOf, type Sql, throughOutage } from '../database';

/** Writes something in the transaction of a unit of work (UnitOfWork.atCommit). */
export type CommitWrite = (sql: Sql) => Promise<void>;

/** Writes one after the other; what is undefined is none. */
export const joined =
  (writes: readonly (CommitWrite | undefined)[]): CommitWrite =>
  async (sql) => {
    for (const write of writes) await write?.(sql);
  };

/** A request that may come again (docs/decisions/kept-answers.md). */
export interface KeptRequest {
  /** A keyed hash of who sends it, where it is sent to, and the key that it names. */
  id: string;
  /** A keyed hash that all requests of one sender have in common. */
  sender: string;
  /** A digest of what is sent: another request under the same key is no repetition. */
  fingerprint: string;
}

/** A request that was answered: `answer` is JSON; null while it runs, and for one that is too large to be kept. */
export interface KeptAnswer {
  fingerprint: string;
  answer: string | null;
  isRunning: boolean;
}

/** The request of a commit was answered before, perhaps by another process: nothing of the commit is stored. */
export class AnsweredBefore extends AppsError {
  constructor(cause?: unknown) {
    super('ConflictError', 'This request was answered before', { cause });
  }
}

/** Answers of requests, in the database, so that a repeated request gets the first one's from every server process. */
export interface KeptAnswers {
  find(id: string): Promise<KeptAnswer | null>;
  /** Keeps the answer in the transaction of the request's work, which then rejects with AnsweredBefore if it was answered before. */
  keep(request: KeptRequest, answer: string): CommitWrite;
  /**
   * Marks a request as running, for work that is more than one transaction: AnsweredBefore if it is known already. What a
   * process that has ended has left counts for RUNNING milliseconds.
   */
  begin(request: KeptRequest): Promise<void>;
  /** Keeps the answer of a request that has begun, as soon as the database can be reached; null: it has failed, and may come again. */
  end(request: KeptRequest, answer: string | null): Promise<void>;
  /**
   * Runs `work` while the request counts as running in this process.
   * @returns what runs already under this id, in place of `work`
   */
  whileRunning<T>(id: string, work: () => Promise<T>): { first: Promise<T> } | { second: Promise<unknown> };
}

const TABLE = 'apps_answers';
const COLUMNS = 'answer_id, sender, fingerprint, answer, ends_at';

const HOUR = 60 * 60_000;

/** Milliseconds for which an answer is kept: as long as a token of a form is valid by default. */
const KEEP = 24 * HOUR;

/** Milliseconds for which a request that has begun counts as running. */
const RUNNING = HOUR / 6;

/** Milliseconds between two deletions of what is no longer kept. */
const PRUNE = 60_000;

/** Characters of an answer; answers that are kept of one sender, and of all. */
export const MAX_KEPT = {
  characters: 64_000,
  ofSender: 1_000,
  together: 100_000,
};

/** In place of an answer that is too large. */
const TOO_LARGE = 'too large';

export interface KeptAnswersOptions {
  database: HostDatabase;
  onError(error: unknown): void;
  /** Milliseconds since the epoch. */
  now?: () => number;
  max?: typeof MAX_KEPT;
}

export function createKeptAnswers({
  database,
  onError,
  now = Date.now,
  max = MAX_KEPT,
}: KeptAnswersOptions): KeptAnswers {
  const dialect = dialects[database.client];
  const outside = AsyncLocalStorage.snapshot();
  const running = new Map<string, Promise<unknown>>();
  let prunedAt = now();

  const reading = () => createSql(readerOf(database), dialect);
  const writing = () => createSql(database.knex(), dialect);

  const insert = async (sql: Sql, { id, sender, fingerprint }: KeptRequest, answer: string | null, time: number) => {
    try {
      const values = [id, sender, fingerprint, answer, now() + time];
      await sql.change(`insert into ${TABLE} (${COLUMNS}) values (?, ?, ?, ?, ?)`, values);
    } catch (error) {
      throw isFailure(error, 'taken') ? new AnsweredBefore(error) : error;
    }
  };

  /** The id of the newest row that is one too many; null where there are not so many. */
  const oneTooMany = async (sql: Sql, count: number, condition: string, values: readonly string[]) => {
    const [row] = await sql.rows(
      `select id from ${TABLE}${condition} order by id desc limit 1 offset ${count}`,
      values,
    );
    return row ? Number(row.id) : null;
  };

  /** Deletes what is over, and the oldest of a sender, or of all, that have too many. */
  const prune = async (): Promise<void> => {
    const sql = writing();
    await sql.change(`delete from ${TABLE} where ends_at < ?`, [now()]);
    const crowd = await sql.rows(
      `select sender from ${TABLE} group by sender having count(*) > ${max.ofSender} limit 100`,
    );
    for (const { sender } of crowd as { sender: string }[]) {
      const last = await oneTooMany(sql, max.ofSender, ' where sender = ?', [sender]);
      if (last !== null) await sql.change(`delete from ${TABLE} where sender = ? and id <= ?`, [sender, last]);
    }
    const last = await oneTooMany(sql, max.together, '', []);
    if (last !== null) await sql.change(`delete from ${TABLE} where id <= ?`, [last]);
  };

  const pruneAtTimes = (): void => {
    if (now() - prunedAt < PRUNE) return;
    prunedAt = now();
    outside(() => prune().catch(onError));
  };

  const kept = (answer: string): string => (answer.length > max.characters ? TOO_LARGE : answer);

  return {
    async find(id) {
      const [row] = await reading().rows(`select fingerprint, answer, ends_at from ${TABLE} where answer_id = ?`, [id]);
      if (!row) return null;
      if (Number(row.ends_at) < now()) {
        await writing().change(`delete from ${TABLE} where answer_id = ? and ends_at < ?`, [id, now()]);
        return null;
      }
      const answer = row.answer as string | null;
      const isKept = answer !== null && answer !== TOO_LARGE;
      return { fingerprint: String(row.fingerprint), answer: isKept ? answer : null, isRunning: answer === null };
    },
    keep: (request, answer) => (sql) => insert(sql, request, kept(answer), KEEP),
    begin: (request) => database.write((connection) => insert(createSql(connection, dialect), request, null, RUNNING)),
    async end({ id }, answer) {
      if (answer === null) await writing().change(`delete from ${TABLE} where answer_id = ?`, [id]);
      else {
        const values = [kept(answer), now() + KEEP, id];
        const text = `update ${TABLE} set answer = ?, ends_at = ? where answer_id = ?`;
        await throughOutage(() => writing().change(text, values));
      }
    },
    whileRunning(id, work) {
      const before = running.get(id);
      if (before) return { second: before };
      const first = work().finally(() => {
        running.delete(id);
        pruneAtTimes();
      });
      running.set(id, first);
      return { first };
    },
  };
}

/** Whether a commit was refused because its request was answered before. */
export const isAnsweredBefore = (error: unknown): error is AnsweredBefore =>
  isAppsError(error) && error instanceof AnsweredBefore;
