import { randomUUID } from 'node:crypto';
import { createSql, dialects, type HostDatabase, marks, type Row, readerOf, type Sql } from '../database';
import type { AppKey, Items } from '../records/types';
import { JobFailure, jobOf, pauseAfter, TABLE } from './rows';
import type { Job, JobKind, JobOutcome } from './types';

/** How often a job may be left behind by a process that has ended, or stopped, before it is given up. */
const MAX_STALLS = 3;

/** Milliseconds between tries of a job that needs what is not there, and for how long there are any. */
const MISSING_PAUSE = 15_000;
const MISSING_TIME = 60 * 60_000;

/** Rows that one statement deletes. */
const MAX_DELETED = 1_000;

/** Characters of a reason, and of another server's answer, that are kept. */
const MAX_REASON = 2_000;
const MAX_ANSWER = 1_000;

/** A text of others as a column takes it: PostgreSQL refuses the character NUL. */
const storable = (text: string, length: number): string => text.slice(0, length).replaceAll('\0', '\ufffd');

const NO_LEASE = 'token = null, lease_until = null';

export interface QueueOptions {
  database: HostDatabase;
  /** Tries after the first. */
  retries: number;
  /** Seconds before the second try. */
  backoff: number;
  /** Seconds for which a claim holds without a sign of life. */
  lease: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Makes a reason one that may be kept. */
  masked?(text: string): string;
}

/** A job that a process has claimed: what it reports counts while the token is the row's. */
export interface Claimed {
  job: Job;
  /** The same object for all jobs that one statement has claimed. */
  claim: object;
  token: string;
  /** When its try began, in milliseconds since the epoch; null: it was claimed ahead, and has not begun. */
  beganAt: number | null;
}

/** The part of an update that claims jobs. */
interface Lease {
  set: string;
  given: readonly unknown[];
  token: string;
  beganAt: number | null;
}

/** What has become of a failed try. */
export interface FailedTry {
  isDead: boolean;
  /** When it is tried again, in milliseconds since the epoch; null: never. */
  dueAt: number | null;
  reason: string;
}

/** The statements of the table of jobs that move a job from one state to the next (docs/decisions/jobs.md). */
export class JobQueue {
  private readonly dialect;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: QueueOptions) {
    this.dialect = dialects[options.database.client];
  }

  /** Milliseconds for which a claim holds without a sign of life. */
  get leaseTime(): number {
    return this.options.lease * 1_000;
  }

  /** Reads what is committed. */
  reading(): Sql {
    return createSql(readerOf(this.options.database), this.dialect);
  }

  /** Runs one statement, or a few that need no transaction, outside of the caller's. */
  writing<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const { database } = this.options;
    if (!this.dialect.oneWriter) return work(createSql(database.reader ?? database.knex(), this.dialect));
    return database.write((connection) => work(createSql(connection, this.dialect)));
  }

  /** Runs statements about several of this process's claims one after the other: two that lock the same rows might wait for each other. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** When the next waiting job is due, in milliseconds since the epoch; null: none waits. One look into an index. */
  async nextDue(): Promise<number | null> {
    const text = `select due_at from ${TABLE} where state = 'waiting' order by due_at limit 1`;
    const [row] = await this.reading().rows(text);
    return row ? Number(row.due_at) : null;
  }

  /** When the next waiting job is due, and whether a job runs in any process. One look into an index each. */
  async pending(): Promise<{ due: number | null; isRunning: boolean }> {
    const due = `select due_at from ${TABLE} where state = 'waiting' order by due_at limit 1`;
    const running = `select 1 from ${TABLE} where state = 'running' limit 1`;
    const [row] = await this.reading().rows(`select (${due}) as due, (${running}) as running`);
    return { due: row?.due == null ? null : Number(row.due), isRunning: row?.running != null };
  }

  /** The apps that have jobs to be done now. */
  async dueApps(): Promise<AppKey[]> {
    const text = `select site, app from ${TABLE} where state = 'waiting' and due_at <= ? group by site, app`;
    return (await this.reading().rows(text, [this.options.now()])).map(keyOf);
  }

  /**
   * Claims up to `limit` jobs of an app, the ones that are due longest first; none before an earlier one of its sequence.
   * @param without kinds that are left to others
   * @param isAhead they do not begin at once: a process that ends meanwhile has not failed them
   */
  async claim(
    { site, app }: AppKey,
    limit: number,
    { without = [], isAhead = false }: { without?: readonly JobKind[]; isAhead?: boolean } = {},
  ): Promise<Claimed[]> {
    // One that fails holds back those of its own name only: another rule of the item need not wait for all of its tries.
    const before = `e.sequence = j.sequence and e.state in ('waiting', 'running') and e.id < j.id and (e.state = 'running' or (e.attempts = 0 and e.missing_since is null) or e.name = j.name)`;
    const isFirst = `(j.sequence is null or not exists (select 1 from ${TABLE} e where ${before}))`;
    const others = without.length > 0 ? ` and j.kind not in (${marks(without)})` : '';
    const ids = `select j.id from ${TABLE} j where j.state = 'waiting' and j.site = ? and j.app = ? and j.due_at <= ?${others} and ${isFirst} order by j.due_at, j.id limit ?`;
    const values = [site, app, this.options.now(), ...without, limit];
    const lease = this.lease(isAhead);
    const rows = await (this.dialect.returning ? this.take(ids, values, lease) : this.takeLocked(ids, values, lease));
    return rows
      .sort((one, other) => Number(one.due_at) - Number(other.due_at) || Number(one.id) - Number(other.id))
      .map((row) => ({ job: jobOf(row), claim: lease, token: lease.token, beganAt: lease.beganAt }));
  }

  /** Claims in one statement. */
  private take(ids: string, values: readonly unknown[], { set, given }: Lease): Promise<Row[]> {
    const skip = this.dialect.client === 'postgres' ? ' for update skip locked' : '';
    const text = `update ${TABLE} set ${set} where id in (${ids}${skip}) returning *`;
    return this.writing((sql) => sql.rows(text, [...given, ...values]));
  }

  /** Claims in a transaction, for a database whose updates return nothing. */
  private takeLocked(ids: string, values: readonly unknown[], { set, given }: Lease): Promise<Row[]> {
    const work = async (sql: Sql) => {
      const found = (await sql.rows(`${ids} for update skip locked`, values)).map(({ id }) => id);
      if (found.length === 0) return [];
      await sql.change(`update ${TABLE} set ${set} where id in (${marks(found)})`, [...given, ...found]);
      return sql.rows(`select * from ${TABLE} where id in (${marks(found)})`, found);
    };
    // A repeatable read would lock the gaps between the rows that it looks at, into which others insert.
    return this.options.database
      .knex()
      .transaction((trx) => work(createSql(trx, this.dialect)), { isolationLevel: 'read committed' });
  }

  private lease(isAhead: boolean): Lease {
    const token = randomUUID();
    const at = this.options.now();
    const beganAt = isAhead ? null : at;
    const set = `state = 'running', token = ?, lease_until = ?, started_at = ?, attempts = attempts + 1`;
    return { set, token, beganAt, given: [token, at + this.leaseTime, beganAt] };
  }

  /** Notes that the try of a job which was claimed ahead has begun. */
  async begun({ job, token, beganAt }: Claimed): Promise<void> {
    const text = `update ${TABLE} set started_at = ? where job_id = ? and token = ?`;
    await this.writing((sql) => sql.change(text, [beganAt, job.id, token]));
  }

  /** Renews the leases of claims. @returns those whose jobs another process may have by now */
  async renew(claims: readonly Claimed[]): Promise<Claimed[]> {
    if (claims.length === 0) return [];
    const until = this.options.now() + this.leaseTime;
    const tokens = [...new Set(claims.map(({ token }) => token))];
    const held = `state = 'running' and token in (${marks(tokens)})`;
    const text = `update ${TABLE} set lease_until = ? where ${held}`;
    await this.alone(() => this.writing((sql) => sql.change(text, [until, ...tokens])));
    const rows = await this.reading().rows(`select job_id from ${TABLE} where ${held}`, tokens);
    const kept = new Set(rows.map(({ job_id }) => String(job_id)));
    return claims.filter(({ job }) => !kept.has(job.id));
  }

  /** Puts jobs whose lease has ended back, or gives them up. @returns the apps of those, and the reports of those given up */
  async reclaim(): Promise<{ keys: AppKey[]; dead: Job[] }> {
    const at = this.options.now();
    const over = `state = 'running' and lease_until < ?`;
    const rows = await this.reading().rows(`select * from ${TABLE} where ${over}`, [at]);
    const keys: AppKey[] = [];
    const dead: Job[] = [];
    for (const row of rows) {
      const hasBegun = row.started_at !== null;
      const isDead = hasBegun && Number(row.stalls) >= MAX_STALLS;
      const values = isDead ? [at, stalled(row)] : hasBegun ? [at] : [];
      // One that has not begun keeps its time, so that it is among the first that begin as they are claimed.
      const stall = hasBegun ? ', due_at = ?, stalls = stalls + 1' : '';
      const change = isDead
        ? `state = 'dead', held_key = null, ended_at = ?, error = ?`
        : `state = 'waiting', attempts = attempts - 1${stall}`;
      const text = `update ${TABLE} set ${change}, ${NO_LEASE} where id = ? and token = ? and ${over}`;
      const count = await this.writing((sql) => sql.change(text, [...values, row.id, row.token, at]));
      if (count === 0) continue;
      keys.push(keyOf(row));
      if (isDead) dead.push(jobOf(row));
    }
    return { keys, dead };
  }

  /** Marks jobs with one outcome as done, on `sql`. @returns how many: those whose lease has been lost stay as they are */
  done(sql: Sql, claims: readonly Claimed[], { status, answer }: JobOutcome): Promise<number> {
    const began = `started_at = coalesce(started_at, ?)`;
    const set = `state = 'done', held_key = null, ended_at = ?, ${began}, status = ?, answer = ?, error = null, ${NO_LEASE}`;
    const at = this.options.now();
    const first = Math.min(...claims.map(({ beganAt }) => beganAt ?? at));
    const { text, values } = this.held(claims);
    const given = [at, first, status, answer === null ? null : storable(answer, MAX_ANSWER), ...values];
    return sql.change(`update ${TABLE} set ${set} where ${text}`, given);
  }

  /** The same in a statement of its own. */
  finish(claims: readonly Claimed[], outcome: JobOutcome): Promise<number> {
    return this.writing((sql) => this.done(sql, claims, outcome));
  }

  /** The condition for the rows of claims that hold. PostgreSQL keeps one text prepared for any number of them. */
  private held(claims: readonly Claimed[]): { text: string; values: unknown[] } {
    const ids = claims.map(({ job }) => job.id);
    const tokens = claims.map(({ token }) => token);
    if (claims.length > 1 && this.dialect.arrays) {
      const pairs = '(job_id, token) in (select * from unnest(?::text[], ?::text[]))';
      return { text: `job_id = any(?::text[]) and ${pairs}`, values: [ids, ids, tokens] };
    }
    const text = claims.map(() => '(job_id = ? and token = ?)').join(' or ');
    return { text, values: claims.flatMap(({ job, token }) => [job.id, token]) };
  }

  /** Puts a claimed job off until a moment: what it had to do by now is done. @param data what its next try gets */
  async putOff({ job, token }: Claimed, dueAt: number, data: Items): Promise<void> {
    const set = `state = 'waiting', due_at = ?, data = ?, attempts = 0, stalls = 0, error = null, ${NO_LEASE}`;
    await this.writing((sql) =>
      sql.change(`update ${TABLE} set ${set} where job_id = ? and token = ?`, [
        dueAt,
        JSON.stringify(data),
        job.id,
        token,
      ]),
    );
  }

  /** Stores a failed try: the job waits for the next one, or is dead. */
  async failed({ job, token, beganAt }: Claimed, error: unknown): Promise<FailedTry> {
    const failure = error instanceof JobFailure ? error : new JobFailure((error as Error)?.message ?? String(error));
    const { next, status, answer, data } = failure;
    const { masked = (text: string) => text } = this.options;
    const reason = storable(masked(failure.message), MAX_REASON);
    const at = this.options.now();
    const isPutOff = next === 'missing' || next === 'unknown';
    const since = isPutOff ? await this.missingSince(job, at) : null;
    const isDead =
      next === 'never' ||
      (next === 'missing' && at - (since ?? at) >= MISSING_TIME) ||
      (next === 'again' && job.attempts > this.options.retries);
    const shared = [reason, status, answer === null ? null : storable(answer, MAX_ANSWER)];
    const waits = isPutOff ? MISSING_PAUSE : pauseAfter(job.attempts, this.options.backoff);
    // A try that found nothing to run is none of the tries that a failing function has.
    const counted = isPutOff ? ', attempts = attempts - 1' : '';
    const [change, values] = isDead
      ? [`state = 'dead', held_key = null, ended_at = ?`, [at]]
      : [`state = 'waiting', due_at = ?, missing_since = ?${counted}`, [at + waits, since]];
    const ended = 'started_at = ?, error = ?, status = ?, answer = ?, data = coalesce(?, data)';
    const text = `update ${TABLE} set ${change}, ${ended}, ${NO_LEASE} where job_id = ? and token = ?`;
    const stored = data && JSON.stringify(data);
    await this.writing((sql) => sql.change(text, [...values, beganAt, ...shared, stored, job.id, token]));
    return { isDead, dueAt: isDead ? null : at + waits, reason };
  }

  private async missingSince({ id }: Job, at: number): Promise<number> {
    const [row] = await this.reading().rows(`select missing_since from ${TABLE} where job_id = ?`, [id]);
    return row?.missing_since ? Number(row.missing_since) : at;
  }

  /** Gives claims back that a process does not finish: the try does not count. */
  async release(claims: readonly Claimed[]): Promise<void> {
    if (claims.length === 0) return;
    const { text, values } = this.held(claims);
    const set = `state = 'waiting', attempts = attempts - 1, ${NO_LEASE}`;
    await this.alone(() => this.writing((sql) => sql.change(`update ${TABLE} set ${set} where ${text}`, values)));
  }

  /** Deletes jobs that ended before `until`. */
  async prune(until: number): Promise<void> {
    for (;;) {
      const text = `select id from ${TABLE} where ended_at < ? limit ${MAX_DELETED}`;
      const ids = (await this.reading().rows(text, [until])).map(({ id }) => id);
      if (ids.length === 0) return;
      await this.writing((sql) =>
        sql.change(`delete from ${TABLE} where id in (${marks(ids)}) and ended_at < ?`, [...ids, until]),
      );
      if (ids.length < MAX_DELETED) return;
    }
  }
}

const keyOf = ({ site, app }: Row): AppKey => ({ site: String(site), app: String(app) });

const stalled = ({ stalls, error }: Row): string =>
  `The process that ran it ended or stopped ${Number(stalls) + 1} times${error ? `; before: ${String(error)}` : ''}`;
