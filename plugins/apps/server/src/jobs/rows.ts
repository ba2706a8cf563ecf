import { createHash } from 'node:crypto';
import type { Items } from '../../../shared/json';
import type { Row, Sql } from '../database';
import type { AppKey } from '../records/types';
import type { Job, JobKind, JobState, ListedJob, NewJob } from './types';

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
  const texts = [id, key.site, key.app, kind, name.slice(0, MAX_TEXT), JSON.stringify(data), requester];
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
    requester: textOf(row.requester) ?? '',
    jobKey: textOf(row.job_key),
    sequence: textOf(row.sequence),
    dueAt: Number(row.due_at),
    attempts: Number(row.attempts),
    wasMissing: numberOf(row.missing_since) !== null,
    storedAt: Number(row.stored_at),
  };
}

export function listedOf(row: Row): ListedJob {
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
}

/** A failed try of a job; any other error counts as one that may succeed next time. */
export class JobFailure extends Error {
  readonly next: NonNullable<Failure['next']>;
  readonly status: number | null;
  readonly answer: string | null;

  constructor(message: string, { next = 'again', status = null, answer = null }: Failure = {}, cause?: unknown) {
    super(message, { cause });
    this.next = next;
    this.status = status;
    this.answer = answer;
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
