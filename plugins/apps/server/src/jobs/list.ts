import type { JobDetail, JobSummary, JobView } from '../../../shared/admin-api';
import { marks, type Row, type Sql } from '../database';
import type { AppKey } from '../records/types';
import { withoutSecrets } from '../runs';
import { heldKey, listedOf, TABLE } from './rows';
import type { JobCount, JobFilter, JobKind, JobPage, JobState, ListedJob } from './types';

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

/** The waiting jobs of an app, counted up to `limit`. */
export async function waitingOf(sql: Sql, { site, app }: AppKey, limit: number): Promise<number> {
  const waiting = `select id from ${TABLE} where state = 'waiting' and site = ? and app = ? limit ${limit}`;
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
