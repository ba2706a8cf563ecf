import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import { FAILED, limitOf, summaryOf } from './ring';
import type { RunDetail, RunsPage, RunsQuery } from './types';

const RUN = 'plugin::apps.run';

/** Milliseconds for which runs are gathered before they are written. */
const GATHER = 500;
/** Runs that wait to be written; later ones are left out, so that a slow database fills no memory. */
const MAX_WAITING = 1_000;
/** Runs of one statement. */
const BATCH = 50;

interface Row {
  id: number;
  entry: string;
}

/** Keeps the latest runs in the host's database, written in batches outside of every request. */
export class RunTable {
  private waiting: RunDetail[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private written = 0;
  // A request's transaction must not reach the writing of its run.
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(
    private readonly strapi: Core.Strapi,
    private readonly logger: Logger,
    private readonly size: number,
  ) {}

  add(run: RunDetail): void {
    if (this.waiting.length >= MAX_WAITING) return;
    this.waiting.push(run);
    this.timer ??= this.outside(() => setTimeout(() => void this.flush(), GATHER).unref());
  }

  /** Writes what waits; resolves when it is written. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const runs = this.waiting.splice(0);
    this.writing = this.writing
      .then(() => this.outside(() => this.write(runs)))
      .catch((error) => this.logger.warn(`[apps] runs could not be stored: ${(error as Error).message}`));
    return this.writing;
  }

  async find(id: string): Promise<RunDetail | null> {
    await this.flush();
    const row: Row | null = await this.rows().findOne({ where: { runId: id } });
    return row && (JSON.parse(row.entry) as RunDetail);
  }

  async list(query: RunsQuery): Promise<RunsPage> {
    await this.flush();
    const limit = limitOf(query);
    const rows: Row[] = await this.rows().findMany({
      where: whereOf(query),
      orderBy: { id: 'desc' },
      limit: limit + 1,
      select: ['id', 'entry'],
    });
    const [newest]: Row[] = await this.rows().findMany({ orderBy: { id: 'desc' }, limit: 1, select: ['id'] });
    const shown = rows.slice(0, limit);
    return {
      runs: shown.map(({ entry }) => summaryOf(JSON.parse(entry) as RunDetail)),
      cursor: newest ? String(newest.id) : null,
      older: rows.length > limit ? String(shown.at(-1)?.id) : null,
      stored: true,
    };
  }

  async failed(app: { site: string; app: string }): Promise<number> {
    await this.flush();
    // The latest ones, in the order of the index: a condition on the time would read all of the app's.
    const latest: { createdAt: Date | string }[] = await this.rows().findMany({
      where: { ...app, state: 'failed' },
      orderBy: { id: 'desc' },
      limit: FAILED.most,
      select: ['createdAt'],
    });
    const since = Date.now() - FAILED.time;
    return latest.filter(({ createdAt }) => new Date(createdAt).getTime() > since).length;
  }

  private rows() {
    return this.strapi.db.query(RUN);
  }

  private async write(runs: RunDetail[]): Promise<void> {
    for (let start = 0; start < runs.length; start += BATCH) {
      const data = runs.slice(start, start + BATCH).map(rowOf);
      await this.rows().createMany({ data });
    }
    this.written += runs.length;
    if (this.written < Math.min(this.size, BATCH)) return;
    this.written = 0;
    const [last]: Row[] = await this.rows().findMany({
      orderBy: { id: 'desc' },
      offset: this.size,
      limit: 1,
      select: ['id'],
    });
    if (last) await this.rows().deleteMany({ where: { id: { $lte: last.id } } });
  }
}

function rowOf(run: RunDetail) {
  const { id, site, app, block, state, requester, rule, job } = run;
  const blocks = run.calls.filter((call) => call.app === app).map((call) => call.block);
  return {
    runId: id,
    site,
    app,
    blocks: `/${[...new Set([block, ...blocks])].join('/')}/`.slice(0, 2_000),
    state,
    requester: requester.identity,
    requesterName: requester.name?.slice(0, 250) ?? null,
    rule: rule?.id ?? null,
    job: job?.id ?? null,
    entry: JSON.stringify(run),
  };
}

const isRowId = (cursor: string | undefined): cursor is string => /^\d{1,15}$/.test(cursor ?? '');

function whereOf({ site, app, block, state, requester, rule, job, after, before }: RunsQuery): object {
  const conditions: object[] = [];
  if (site !== undefined) conditions.push({ site });
  if (app !== undefined) conditions.push({ app });
  if (block !== undefined) conditions.push({ blocks: { $contains: `/${block}/` } });
  if (state !== undefined) conditions.push({ state });
  if (requester === 'anonymous') conditions.push({ requester: '' });
  else if (requester !== undefined) conditions.push({ $or: [{ requester }, { requesterName: requester }] });
  if (rule !== undefined) conditions.push({ rule });
  if (job !== undefined) conditions.push({ job });
  if (isRowId(after)) conditions.push({ id: { $gt: Number(after) } });
  if (isRowId(before)) conditions.push({ id: { $lt: Number(before) } });
  return { $and: conditions };
}
