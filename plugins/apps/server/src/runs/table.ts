import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { Core } from '@strapi/strapi';
import type { Logger } from '../common/log';
import type { NewRun, RunDetail, RunsPage, RunsQuery } from './types';

/** Characters of all runs in memory, about. */
const MAX_CHARACTERS = 16_000_000;
/** Runs of one answer: by default, and at most. */
const LIMIT = { usual: 50, most: 200 };

/** Failed runs that are counted, and milliseconds for which they are. */
const FAILED = { most: 100, time: 24 * 60 * 60 * 1_000 };

/** The number of runs that a query asks for. */
const limitOf = ({ limit = LIMIT.usual }: RunsQuery): number => Math.min(Math.max(1, limit), LIMIT.most);

/** The latest runs in the memory of one server process, bounded in number and size. */
export class RunRing {
  /** Begins the ids, so that a cursor of another process or of an earlier start counts for nothing. */
  private readonly origin = randomBytes(4).toString('hex');
  private readonly runs: { run: RunDetail; size: number }[] = [];
  private characters = 0;
  private last = 0;

  constructor(readonly size: number) {}

  add(fresh: NewRun): RunDetail {
    this.last += 1;
    const run: RunDetail = { id: `${this.origin}-${this.last}`, ...fresh };
    const size = sizeOf(run);
    this.runs.push({ run, size });
    this.characters += size;
    while (this.runs.length > this.size || (this.characters > MAX_CHARACTERS && this.runs.length > 1)) {
      this.characters -= this.runs.shift()?.size ?? 0;
    }
    return run;
  }

  find(id: string): RunDetail | null {
    return this.runs.find(({ run }) => run.id === id)?.run ?? null;
  }

  all(): readonly RunDetail[] {
    return this.runs.map(({ run }) => run);
  }

  /** False for a run that is not there. */
  remove(id: string): boolean {
    const at = this.runs.findIndex(({ run }) => run.id === id);
    if (at < 0) return false;
    const [removed] = this.runs.splice(at, 1);
    this.characters -= removed?.size ?? 0;
    return true;
  }

  list(query: RunsQuery): RunsPage {
    const [after, before] = [this.numberOf(query.after) ?? 0, this.numberOf(query.before) ?? Number.POSITIVE_INFINITY];
    const limit = limitOf(query);
    const found: RunDetail[] = [];
    for (let at = this.runs.length - 1; at >= 0 && found.length <= limit; at -= 1) {
      const { run } = this.runs[at] as { run: RunDetail };
      const number = this.numberOf(run.id) ?? 0;
      if (number > after && number < before && matches(run, query)) found.push(run);
    }
    const shown = found.slice(0, limit);
    return {
      runs: shown.map(summaryOf),
      cursor: this.last === 0 ? null : `${this.origin}-${this.last}`,
      older: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
      stored: false,
    };
  }

  failed(app: { site: string; app: string }): number {
    const since = Date.now() - FAILED.time;
    const found = this.runs.filter(
      ({ run }) => matches(run, { ...app, state: 'failed' }) && Date.parse(run.at) > since,
    );
    return Math.min(found.length, FAILED.most);
  }

  private numberOf(cursor: string | undefined): number | null {
    const [origin, number] = cursor?.split('-') ?? [];
    return origin === this.origin && /^\d{1,15}$/.test(number ?? '') ? Number(number) : null;
  }
}

/** The run without its log and input. */
function summaryOf({ logs: _logs, input: _input, ...summary }: RunDetail) {
  return summary;
}

function matches(run: RunDetail, { site, app, block, state, requester, rule, job }: RunsQuery): boolean {
  const { identity, name } = run.requester;
  const names = requester === 'anonymous' ? identity === '' : identity === requester || name === requester;
  return (
    (site === undefined || run.site === site) &&
    (app === undefined || run.app === app) &&
    (block === undefined || run.calls.some((call) => call.block === block && call.app === run.app)) &&
    (state === undefined || run.state === state) &&
    (requester === undefined || names) &&
    (rule === undefined || run.rule?.id === rule) &&
    (job === undefined || run.job?.id === job)
  );
}

/** Characters of the parts that can be long. */
function sizeOf({ address, logs, error, input }: RunDetail): number {
  const lines = logs.reduce((sum, { message }) => sum + message.length + 50, 0);
  return 500 + address.length + lines + (error?.message.length ?? 0) + (input ? JSON.stringify(input).length : 0);
}

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
