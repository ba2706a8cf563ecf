import { marks, type Row, type Sql } from '../indexes';
import type { AppKey } from '../records/types';
import { heldKey, listedOf, TABLE } from './rows';
import type { JobCount, JobFilter, JobKind, JobState, ListedJob } from './types';

const columnOf: Record<keyof JobFilter, string> = {
  site: 'site',
  app: 'app',
  kind: 'kind',
  name: 'name',
  state: 'state',
};

function condition(filter: JobFilter): { text: string; values: unknown[] } {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined) as [keyof JobFilter, string][];
  const text = given.map(([key]) => `${columnOf[key]} = ?`).join(' and ');
  return { text: text === '' ? '1 = 1' : text, values: given.map(([, value]) => value) };
}

/** A page of the jobs that are meant, the latest first, and how many there are. */
export async function listJobs(
  sql: Sql,
  filter: JobFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ jobs: ListedJob[]; total: number }> {
  const { text, values } = condition(filter);
  const page = `select * from ${TABLE} where ${text} order by id desc limit ? offset ?`;
  const rows = await sql.rows(page, [...values, limit, offset]);
  const [count] = await sql.rows(`select count(*) as jobs from ${TABLE} where ${text}`, values);
  return { jobs: rows.map(listedOf), total: Number(count?.jobs ?? 0) };
}

export async function countJobs(sql: Sql): Promise<JobCount[]> {
  const text = `select site, app, kind, state, count(*) as jobs from ${TABLE} group by site, app, kind, state`;
  return (await sql.rows(text)).map(({ site, app, kind, state, jobs }) => ({
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

/** Has jobs wait again, to run at once. @returns the apps of those, and how many there are */
export async function retryJobs(
  sql: Sql,
  which: { id: string } | { dead: JobFilter },
  at: number,
): Promise<{ keys: AppKey[]; count: number }> {
  const { text, values } = 'id' in which ? { text: 'job_id = ?', values: [which.id] } : condition(which.dead);
  const states = 'id' in which ? "state <> 'running'" : "state = 'dead'";
  const again = `set state = 'waiting', due_at = ?, attempts = 0, stalls = 0, missing_since = null, ended_at = null`;
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
