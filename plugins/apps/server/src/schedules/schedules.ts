import type { AppServices } from '../apps';
import type { Missed } from '../apps/types';
import { notFound } from '../common/errors';
import type { Logger } from '../common/log';
import { cronWords } from '../common/time/cron';
import type { HostDatabase } from '../database';
import type { Jobs, NewJob } from '../jobs/types';
import type { Sites } from '../sites/types';
import { createDeclared, type Declared, placeOf } from './declared';
import { ScheduleRows, type StoredRow, type StoredSchedule } from './rows';
import type { DeclaredSchedule, ListedSchedule, ScheduleProgress, Schedules } from './types';

/** Ticks that are looked at together: of more that were missed, the latest. */
export const MAX_MISSED = 1_000;

/** Milliseconds for which `skip` still runs a tick that comes late. */
const LATE = 60_000;

/** Milliseconds by which the clocks of processes may differ: a schedule that is ahead by less waits. */
const SKEW = 60_000;

/** Ranges of stored ticks that are kept, the latest: a further one begins only where ticks are left out, or the clock was set. */
const MAX_RANGES = 8;

/** A tick that becomes a job. */
interface DueTick {
  at: number;
  /** Ticks that the job stands for besides its own. */
  missed: number;
}

interface Step {
  progress: ScheduleProgress;
  due: DueTick[];
}

/** The ticks that become jobs, of those that have come since the last look. */
const policies: Record<Missed, (fresh: readonly number[], last: number, now: number) => DueTick[]> = {
  skip: (_fresh, last, now) => (now - last > LATE ? [] : [{ at: last, missed: 0 }]),
  once: (fresh, last) => [{ at: last, missed: fresh.length - 1 }],
  all: (fresh) => fresh.map((at) => ({ at, missed: 0 })),
};

/** Whether the clock was set back since the schedule has come so far. */
const isAhead = ({ position }: ScheduleProgress, now: number): boolean => position > now + SKEW;

/**
 * How a schedule moves on: the ticks that are due, and how far it has then come; null when nothing changes.
 * A clock that was set back begins again at its new time, and leaves out the ticks that have been stored already.
 */
export function stepOf(
  progress: ScheduleProgress,
  { ticks, missed }: Pick<DeclaredSchedule, 'ticks' | 'missed'>,
  now: number,
): Step | null {
  const start = isAhead(progress, now) ? beginAt(now) : progress.position;
  const found = ticks.between(start, now, MAX_MISSED);
  const position = found.at(-1) ?? start;
  if (position === progress.position) return null;
  const fresh = found.filter((tick) => !progress.ran.some(([from, to]) => from <= tick && tick <= to));
  const last = fresh.at(-1);
  const due = last === undefined ? [] : policies[missed](fresh, last, now);
  const isWhole = due.length === fresh.length && found.length < MAX_MISSED;
  return { progress: { position, ran: ranAfter(progress.ran, due, isWhole ? start : null) }, due };
}

/** @param since all ticks after this time have run or are due; null: some were left out */
function ranAfter(
  ran: ScheduleProgress['ran'],
  due: readonly DueTick[],
  since: number | null,
): ScheduleProgress['ran'] {
  const [first, last] = [due[0]?.at, due.at(-1)?.at];
  if (first === undefined || last === undefined) return ran;
  const before = since === null ? undefined : ran.findLast(([, to]) => to >= since && to < first);
  const begin = before?.[0] ?? first;
  const others = ran.filter(([from, to]) => from < begin || to > last);
  return [...others, [begin, last] as const].sort(([, a], [, b]) => a - b).slice(-MAX_RANGES);
}

/** Where a schedule begins: a tick at this very time is its first one. */
export const beginAt = (now: number): number => now - 1;

/** The next tick of each progress: to find one takes a tenth of a millisecond. */
const nextTicks = new WeakMap<ScheduleProgress, number | null>();

/** When a schedule is to be looked at next; null: never. */
export function nextLook(
  progress: ScheduleProgress,
  { ticks }: Pick<DeclaredSchedule, 'ticks'>,
  now: number,
): number | null {
  if (isAhead(progress, now)) return now;
  const known = nextTicks.get(progress);
  if (known !== undefined) return known;
  const next = ticks.next(progress.position);
  nextTicks.set(progress, next);
  return next;
}

/** Milliseconds between two looks at the files and the themes of the sites. */
const REFRESH = 5_000;

/** Milliseconds before a tick is looked at again whose schedule still has a job that waits or runs. */
const HELD_PAUSE = 1_000;

/** How often a schedule is tried that other processes move on at the same time. */
const MAX_TRIES = 5;

const nothing: Declared = { schedules: [], unclear: new Set() };

interface SchedulesOptions {
  database: HostDatabase;
  logger: Logger;
  jobs: Pick<Jobs, 'insert' | 'find'>;
  sites: Pick<Sites, 'all' | 'watched' | 'revision'>;
  loadApp: AppServices['loadApp'];
  /** Whether this process stores jobs of ticks. */
  isActive: boolean;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

export function createSchedules(options: SchedulesOptions): Schedules {
  const { logger, jobs, sites, isActive, now = Date.now } = options;
  const rows = new ScheduleRows(options.database);
  const readDeclared = createDeclared(options);
  const states = new Map<string, StoredSchedule>();
  /** When a schedule is looked at again whose last job has not ended. */
  const held = new Map<string, number>();
  let declared: Declared = nothing;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  let last: Promise<unknown> = Promise.resolve();
  const report = (error: unknown) => logger.error(`[apps] schedules: ${(error as Error).message}`);

  /** One work at a time in this process. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  /** Reads the definitions, and the rows of the database when they have changed. */
  async function refresh(): Promise<void> {
    const found = await readDeclared();
    refreshedAt = performance.now();
    if (found === declared) return;
    const siteIds = (await sites.all()).map(({ id }) => id);
    const stored = await rows.ofSites(siteIds);
    const begin: StoredSchedule = { progress: { position: beginAt(now()), ran: [] }, last: null };
    const missing = found.schedules.filter(({ id }) => !stored.has(id));
    // One that another process has taken for removed goes on where it was.
    await rows.add(missing.map((one) => [one, states.get(one.id) ?? begin] as const));
    const ids = new Set(found.schedules.map(({ id }) => id));
    const isGone = ([id, { site, app, block }]: [string, StoredRow]) =>
      !ids.has(id) && !found.unclear.has(placeOf(site, app, block));
    await rows.delete([...stored].filter(isGone).map(([id]) => id));
    const known = missing.length > 0 ? await rows.ofSites(siteIds) : stored;
    states.clear();
    for (const id of ids) states.set(id, known.get(id) ?? begin);
    declared = found;
  }

  /** Stores the jobs of a schedule's ticks that have come. @returns their number */
  async function moveOn(one: DeclaredSchedule): Promise<number> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const state = states.get(one.id);
      const step = state && stepOf(state.progress, one, now());
      if (!step) return 0;
      if (one.missed !== 'all' && step.due.length > 0 && (await hasJob(state))) {
        held.set(one.id, now() + HELD_PAUSE);
        return 0;
      }
      const store = async () => {
        if (step.due.length === 0) return state.last;
        const ids = await jobs.insert(step.due.map((tick) => jobOf(one, tick)));
        const [tick, job] = [step.due.at(-1)?.at, ids.at(-1)];
        return tick === undefined || job === undefined ? state.last : { tick, job };
      };
      const stored = await rows.advance(one.id, state.progress.position, step.progress, store);
      if (stored) {
        states.set(one.id, stored);
        return step.due.length;
      }
      await readAgain(one, state);
    }
    return 0;
  }

  /** After another process has moved a schedule on. */
  async function readAgain(one: DeclaredSchedule, state: StoredSchedule): Promise<void> {
    const found = await rows.find(one.id);
    if (!found) await rows.add([[one, state]]);
    states.set(one.id, found ?? state);
  }

  /** Whether the last job of a schedule waits or runs: the next one then stands for all ticks until it has ended. */
  async function hasJob({ last }: StoredSchedule): Promise<boolean> {
    const job = last && (await jobs.find(last.job));
    return job !== null && (job.state === 'waiting' || job.state === 'running');
  }

  const lookAt = (one: DeclaredSchedule): number => {
    const state = states.get(one.id);
    const next = state ? nextLook(state.progress, one, now()) : null;
    return Math.max(next ?? Number.POSITIVE_INFINITY, heldUntil(one));
  };

  /** A clock that was set back ends the pause. */
  const heldUntil = ({ id }: DeclaredSchedule): number => {
    const until = held.get(id) ?? 0;
    return until > now() + HELD_PAUSE ? 0 : until;
  };

  async function storeDue(): Promise<number> {
    let count = 0;
    for (const one of declared.schedules) {
      if (lookAt(one) > now()) continue;
      count += await moveOn(one).catch((error) => {
        held.set(one.id, now() + HELD_PAUSE);
        report(error);
        return 0;
      });
    }
    return count;
  }

  async function keepLooking(): Promise<void> {
    try {
      await inOrder(async () => {
        if (performance.now() - refreshedAt >= REFRESH) await refresh();
        await storeDue();
      });
    } catch (error) {
      refreshedAt = performance.now();
      report(error);
    }
    plan();
  }

  /** Looks again when the next tick is due; and soon, because files and the clock may be changed. */
  function plan(): void {
    if (ended) return;
    clearTimeout(timer);
    const next = Math.min(...declared.schedules.map(lookAt));
    const pause = Math.max(REFRESH - (performance.now() - refreshedAt), 1);
    timer = setTimeout(() => void keepLooking(), Math.min(Math.max(next - now(), 1), pause)).unref();
  }

  async function listed(one: DeclaredSchedule): Promise<ListedSchedule> {
    const { key, block, cron, timeZone, missed, ticks } = one;
    const state = states.get(one.id);
    const job = state?.last ? await jobs.find(state.last.job) : null;
    const next = ticks.next(Math.max(now(), state?.progress.position ?? 0));
    return {
      ...key,
      block,
      function: one.function,
      cron,
      timeZone,
      missed,
      words: cronWords(cron, timeZone),
      next: next === null ? null : new Date(next).toISOString(),
      last: state?.last
        ? { tick: new Date(state.last.tick).toISOString(), job: state.last.job, state: job?.state ?? null }
        : null,
    };
  }

  /** Reads what other processes have stored. */
  async function reload(): Promise<void> {
    await refresh();
    const stored = await rows.ofSites([...new Set(declared.schedules.map(({ key }) => key.site))]);
    for (const { id } of declared.schedules) {
      const found = stored.get(id);
      if (found) states.set(id, found);
    }
  }

  return {
    async list() {
      await inOrder(reload);
      const all: ListedSchedule[] = [];
      for (const one of declared.schedules) all.push(await listed(one));
      return all;
    },
    async runNow({ site, app, block, function: name }) {
      await inOrder(refresh);
      const one = declared.schedules.find(
        (other) => other.key.site === site && other.key.app === app && other.block === block && other.function === name,
      );
      if (!one) throw notFound(`The block "${block}" has no schedule of a function "${name}"`);
      const [id = ''] = await jobs.insert([
        { ...jobOf(one, { at: now(), missed: 0 }), jobKey: `schedule/${one.id}/now` },
      ]);
      return id;
    },
    tick: () =>
      inOrder(async () => {
        await refresh();
        return storeDue();
      }),
    forget: () =>
      inOrder(async () => {
        await rows.clear();
        states.clear();
        held.clear();
        declared = nothing;
      }),
    start() {
      if (isActive) void keepLooking();
    },
    async destroy() {
      ended = true;
      clearTimeout(timer);
      await last;
    },
  };
}

/** The job of a tick. It runs after those of earlier ticks. */
function jobOf({ id, kind, key, block, function: name, cron }: DeclaredSchedule, { at, missed }: DueTick): NewJob {
  const tick = new Date(at).toISOString();
  return {
    key,
    kind,
    name: `${block}/${name}`,
    requester: '',
    dueAt: null,
    data: { block, function: name, params: { schedule: cron, tick, missed } },
    jobKey: `schedule/${id}/${tick}`,
    sequence: `schedule/${id}`,
  };
}
