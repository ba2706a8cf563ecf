import { createHash } from 'node:crypto';
import type { JobDetail, JobSummary, JobView } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import { marks, type Row, type Sql } from '../database';
import type { AppKey } from '../records/types';
import { withoutSecrets } from '../runs';
import type { Job, JobCount, JobFilter, JobKind, JobPage, JobState, ListedJob, NewJob } from './types';

export const TABLE = 'apps_jobs';

/** Columns of a new row, in the order of `valuesOf`. */
const columns = [
  'job_id',
  'site',
  'app',
  'kind',
  'name',
  'data',
  'requester',
  'authority',
  'job_key',
  'held_key',
  'sequence',
  'state',
  'attempts',
  'stalls',
  'stored_at',
  'due_at',
];

/** Further columns of a job that is given up already. */
const endedColumns = ['ended_at', 'error'];

/** Characters of a text that a column of Strapi's type `string` takes. */
const MAX_TEXT = 255;

/** What is unique while a job waits or runs: a digest, because site, app and key may be longer than a column together. */
export const heldKey = ({ site, app }: AppKey, jobKey: string): string =>
  createHash('sha256')
    .update(JSON.stringify([site, app, jobKey]))
    .digest('hex');

function valuesOf({ id, ...job }: NewJob & { id: string }, at: number, reason: string | null): unknown[] {
  const { key, kind, name, data, requester, jobKey, sequence, dueAt } = job;
  const held = jobKey === null ? null : heldKey(key, jobKey);
  const ordered = sequence === null ? null : heldKey(key, sequence);
  // The release before this one reads the identity alone.
  const [identity] = requester.split('/');
  const texts = [id, key.site, key.app, kind, name.slice(0, MAX_TEXT), JSON.stringify(data), identity, requester];
  const state = reason === null ? 'waiting' : 'dead';
  const values = [...texts, jobKey?.slice(0, MAX_TEXT) ?? null, held, ordered, state, 0, 0, at, dueAt ?? at];
  return reason === null ? values : [...values, at, reason];
}

/**
 * Stores jobs. Those whose key is held are left out, where `verb` and `ending` say so.
 * @param reason why they are given up already; null: they are to be done
 */
export async function insertJobs(
  sql: Sql,
  jobs: readonly (NewJob & { id: string })[],
  at: number,
  skip: { verb: string; ending: string },
  reason: string | null = null,
): Promise<void> {
  const rows = jobs.map((job) => valuesOf(job, at, reason));
  const named = reason === null ? columns : [...columns, ...endedColumns];
  await sql.insert(TABLE, named, rows, skip.ending, skip.verb);
}

/** The id of the job that waits or runs with a key; null: the key is free. @param ending of the select: a dialect's `newest` or `shareLock` */
export async function holderOf(
  sql: Sql,
  key: AppKey,
  jobKey: string,
  ending: string | undefined = '',
): Promise<string | null> {
  const [row] = await sql.rows(`select job_id from ${TABLE} where held_key = ?${ending}`, [heldKey(key, jobKey)]);
  return row ? String(row.job_id) : null;
}

const numberOf = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));
const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** A row as a job. */
export function jobOf(row: Row): Job {
  return {
    id: String(row.job_id),
    key: { site: String(row.site), app: String(row.app) },
    kind: row.kind as JobKind,
    name: String(row.name),
    data: JSON.parse(String(row.data)) as Items,
    requester: textOf(row.authority) ?? textOf(row.requester) ?? '',
    jobKey: textOf(row.job_key),
    sequence: textOf(row.sequence),
    dueAt: Number(row.due_at),
    attempts: Number(row.attempts),
    wasMissing: numberOf(row.missing_since) !== null,
    storedAt: Number(row.stored_at),
  };
}

function listedOf(row: Row): ListedJob {
  return {
    ...jobOf(row),
    state: row.state as JobState,
    startedAt: numberOf(row.started_at),
    endedAt: numberOf(row.ended_at),
    status: numberOf(row.status),
    answer: textOf(row.answer),
    error: textOf(row.error),
  };
}

/** Milliseconds: the longest pause before a next try. */
const LONGEST = 60 * 60_000;

/** The part of a pause that is random, so that jobs that failed together are not tried together again. */
const JITTER = 0.2;

/** What a failed try says besides its message. */
interface Failure {
  /**
   * `again`: the next try may succeed; `never`: none will; `missing`: what it needs is not there yet, or no longer; `unknown`: a newer
   * release has stored it, and processes of that release do it (docs/decisions/rolling-upgrades.md).
   */
  next?: 'again' | 'never' | 'missing' | 'unknown';
  /** The status and the beginning of an answer of another server. */
  status?: number | null;
  answer?: string | null;
  /** What the next try gets in place of the job's data. */
  data?: Items;
}

/** A failed try of a job; any other error counts as one that may succeed next time. */
export class JobFailure extends Error {
  readonly next: NonNullable<Failure['next']>;
  readonly status: number | null;
  readonly answer: string | null;
  readonly data: Items | null;

  constructor(message: string, { next = 'again', status = null, answer = null, data }: Failure = {}, cause?: unknown) {
    super(message, { cause });
    this.next = next;
    this.status = status;
    this.answer = answer;
    this.data = data ?? null;
  }
}

/**
 * Milliseconds between a failed try and the next one: doubled each time, an hour at most, then up to a fifth more.
 * @param attempts tries so far @param backoff seconds before the second one
 */
export function pauseAfter(attempts: number, backoff: number, random = Math.random): number {
  const pause = Math.min(backoff * 1_000 * 2 ** (attempts - 1), LONGEST);
  return Math.round(pause * (1 + JITTER * random()));
}

/** The rows that people see as one state: a job that waits after a failed try has failed. */
export const viewFilters: Readonly<Record<JobView, JobFilter>> = {
  waiting: { state: 'waiting', hasFailed: false },
  failed: { state: 'waiting', hasFailed: true },
  running: { state: 'running' },
  dead: { state: 'dead' },
  done: { state: 'done' },
};

const viewOf = ({ state, error }: ListedJob): JobView => (state === 'waiting' && error !== null ? 'failed' : state);

const timeOf = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

/** A job as lists show it. */
export function summaryOf(job: ListedJob): JobSummary {
  const { id, key, kind, name, attempts, requester, jobKey, storedAt, dueAt, startedAt, endedAt } = job;
  return {
    id,
    site: key.site,
    app: key.app,
    kind,
    name,
    view: viewOf(job),
    attempts,
    requester,
    key: jobKey,
    storedAt: new Date(storedAt).toISOString(),
    dueAt: new Date(dueAt).toISOString(),
    startedAt: timeOf(startedAt),
    endedAt: timeOf(endedAt),
    time: startedAt === null || endedAt === null ? null : endedAt - startedAt,
    status: job.status,
    error: job.error,
  };
}

/** A job with what it was given. */
export const detailOf = (job: ListedJob): JobDetail => ({
  ...summaryOf(job),
  data: withoutSecrets(job.data),
  answer: job.answer,
});

/** The condition of each key of a filter. */
const conditions: Record<keyof JobFilter, (value: never) => { text: string; values: unknown[] }> = {
  site: (value) => ({ text: 'site = ?', values: [value] }),
  app: (value) => ({ text: 'app = ?', values: [value] }),
  kind: (value) => ({ text: 'kind = ?', values: [value] }),
  name: (value) => ({ text: 'name = ?', values: [value] }),
  state: (value) => ({ text: 'state = ?', values: [value] }),
  hasFailed: (value: boolean) => ({ text: `error is ${value ? 'not ' : ''}null`, values: [] }),
};

function condition(filter: JobFilter): { text: string; values: unknown[] } {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const parts = given.map(([key, value]) => conditions[key as keyof JobFilter](value as never));
  const text = parts.map((part) => part.text).join(' and ');
  return { text: text === '' ? '1 = 1' : text, values: parts.flatMap(({ values }) => values) };
}

/** A part of the jobs that are meant. */
export async function listJobs(
  sql: Sql,
  filter: JobFilter,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<JobPage> {
  const { text, values } = condition(filter);
  const isOlder = before === undefined ? '' : ` and id < (select id from ${TABLE} where job_id = ?)`;
  const part = `select * from ${TABLE} where ${text}${isOlder} order by id desc limit ?`;
  const given = before === undefined ? values : [...values, before];
  const rows = await sql.rows(part, [...given, limit + 1]);
  const jobs = rows.slice(0, limit).map(listedOf);
  return { jobs, older: rows.length > limit ? (jobs.at(-1)?.id ?? null) : null };
}

export async function countJobs(sql: Sql, filter: JobFilter): Promise<JobCount[]> {
  const { text, values } = condition(filter);
  const groups = 'site, app, kind, state';
  const rows = await sql.rows(
    `select ${groups}, count(*) as jobs from ${TABLE} where ${text} group by ${groups}`,
    values,
  );
  return rows.map(({ site, app, kind, state, jobs }) => ({
    site: String(site),
    app: String(app),
    kind: kind as JobKind,
    state: state as JobState,
    jobs: Number(jobs),
  }));
}

export async function findJob(sql: Sql, id: string): Promise<ListedJob | null> {
  const [row] = await sql.rows(`select * from ${TABLE} where job_id = ?`, [id]);
  return row ? listedOf(row) : null;
}

/** The waiting jobs of an app that its logic has added, counted up to `limit`: others that wait stop no visitor. */
export async function waitingOf(sql: Sql, { site, app }: AppKey, limit: number): Promise<number> {
  const waiting = `select id from ${TABLE} where state = 'waiting' and site = ? and app = ? and kind in ('function', 'fetch') limit ${limit}`;
  const [row] = await sql.rows(`select count(*) as jobs from (${waiting}) as w`, [site, app]);
  return Number(row?.jobs ?? 0);
}

/** Has jobs wait again, to run at once; what their earlier tries have brought is forgotten. @returns the apps of those, and how many there are */
export async function retryJobs(
  sql: Sql,
  which: { id: string } | { dead: JobFilter },
  at: number,
): Promise<{ keys: AppKey[]; count: number }> {
  const { text, values } = 'id' in which ? { text: 'job_id = ?', values: [which.id] } : condition(which.dead);
  const states = 'id' in which ? "state <> 'running'" : "state = 'dead'";
  const before = ['missing_since', 'started_at', 'ended_at', 'error', 'status', 'answer'];
  const cleared = before.map((column) => `${column} = null`).join(', ');
  const again = `set state = 'waiting', due_at = ?, attempts = 0, stalls = 0, ${cleared}`;
  const chosen = `(${text}) and ${states}`;
  const rows = await sql.rows(`select distinct site, app from ${TABLE} where ${chosen}`, values);
  const keyed = await sql.rows(
    `select id, site, app, job_key from ${TABLE} where ${chosen} and job_key is not null order by id`,
    values,
  );
  const others = `update ${TABLE} ${again} where ${chosen} and job_key is null`;
  let count = await sql.change(others, [at, ...values]);
  for (const row of keyed) count += await retryKeyed(sql, row, `update ${TABLE} ${again}, held_key = ?`, [at]);
  return { keys: rows.map(({ site, app }) => ({ site: String(site), app: String(app) })), count };
}

/** A job whose key another one holds by now is not run again: that one does its work. */
async function retryKeyed(sql: Sql, row: Row, update: string, values: readonly unknown[]): Promise<number> {
  const held = heldKey({ site: String(row.site), app: String(row.app) }, String(row.job_key));
  const [holder] = await sql.rows(`select id from ${TABLE} where held_key = ?`, [held]);
  if (holder && holder.id !== row.id) return 0;
  return sql.change(`${update} where id = ? and state <> 'running'`, [...values, held, row.id]);
}

export async function deleteJob(sql: Sql, id: string): Promise<boolean> {
  return (await sql.change(`delete from ${TABLE} where job_id = ? and state <> 'running'`, [id])) > 0;
}

export async function deleteJobs(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.change(`delete from ${TABLE} where job_id in (${marks(ids)})`, ids);
}
