import { randomBytes } from 'node:crypto';
import type { NewRun, RunDetail, RunsPage, RunsQuery } from './types';

/** Characters of all runs in memory, about. */
const MAX_CHARACTERS = 16_000_000;
/** Runs of one answer: by default, and at most. */
const LIMIT = { usual: 50, most: 200 };

/** Failed runs that are counted, and milliseconds for which they are. */
export const FAILED = { most: 100, time: 24 * 60 * 60 * 1_000 };

/** The number of runs that a query asks for. */
export const limitOf = ({ limit = LIMIT.usual }: RunsQuery): number => Math.min(Math.max(1, limit), LIMIT.most);

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
export function summaryOf({ logs: _logs, input: _input, ...summary }: RunDetail) {
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
