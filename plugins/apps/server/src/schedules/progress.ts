import type { Missed } from '../apps/types';
import type { DeclaredSchedule, Progress } from './types';

/** Ticks that are looked at together: of more that were missed, the latest. */
export const MAX_MISSED = 1_000;

/** Milliseconds for which `skip` still runs a tick that comes late. */
const LATE = 60_000;

/** Milliseconds by which the clocks of processes may differ: a schedule that is ahead by less waits. */
const SKEW = 60_000;

/** Ranges of stored ticks that are kept, the latest: a further one begins only where ticks are left out, or the clock was set. */
const MAX_RANGES = 8;

/** A tick that becomes a job. */
export interface DueTick {
  at: number;
  /** Ticks that the job stands for besides its own. */
  missed: number;
}

export interface Step {
  progress: Progress;
  due: DueTick[];
}

/** The ticks that become jobs, of those that have come since the last look. */
const policies: Record<Missed, (fresh: readonly number[], last: number, now: number) => DueTick[]> = {
  skip: (_fresh, last, now) => (now - last > LATE ? [] : [{ at: last, missed: 0 }]),
  once: (fresh, last) => [{ at: last, missed: fresh.length - 1 }],
  all: (fresh) => fresh.map((at) => ({ at, missed: 0 })),
};

/** Whether the clock was set back since the schedule has come so far. */
const isAhead = ({ position }: Progress, now: number): boolean => position > now + SKEW;

/**
 * How a schedule moves on: the ticks that are due, and how far it has then come; null when nothing changes.
 * A clock that was set back begins again at its new time, and leaves out the ticks that have been stored already.
 */
export function stepOf(
  progress: Progress,
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
function ranAfter(ran: Progress['ran'], due: readonly DueTick[], since: number | null): Progress['ran'] {
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
const nextTicks = new WeakMap<Progress, number | null>();

/** When a schedule is to be looked at next; null: never. */
export function nextLook(progress: Progress, { ticks }: Pick<DeclaredSchedule, 'ticks'>, now: number): number | null {
  if (isAhead(progress, now)) return now;
  const known = nextTicks.get(progress);
  if (known !== undefined) return known;
  const next = ticks.next(progress.position);
  nextTicks.set(progress, next);
  return next;
}
