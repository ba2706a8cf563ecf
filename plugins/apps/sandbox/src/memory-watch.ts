import type { Session } from './session';

/** Milliseconds between two measurements of the process's memory. */
const interval = 50;

/** Megabytes of the runner without any session, with a reserve, and of an idle isolate. */
const ownMemory = 128;
const idleMemory = 16;

/**
 * Milliseconds of processor time below which a session is not to blame: hundreds of megabytes take longer to fill, and
 * a Python session may use some tens before its own code runs.
 */
const MIN_TIME = 150;

/**
 * Milliseconds of processor time that all other sessions of a process may have used for its growth to be due to one
 * session: too little to fill what one session may use.
 */
const MAX_OTHERS_TIME = 50;

/** Megabytes of an isolate in a runner that has had no session for `MAX_MEASUREMENTS.rest` measurements. */
const REST_MEMORY = 10;

/**
 * Consecutive measurements over the bound after which the memory counts as lost: with sessions, and without. `rest`:
 * measurements without a session, twelve seconds, after which a lower bound holds: the pool has then disposed of its
 * isolates, and the memory of a burst of requests must be free again.
 */
const MAX_MEASUREMENTS = { busy: 20, idle: 4, rest: 240 };

/** The part of a session that the watch uses. */
export type Watched = Pick<Session, 'before' | 'fail' | 'isDisposed' | 'processorTime'>;

/** What the process has used when a session begins, as of the last measurement. */
export interface Usage {
  /** Bytes of resident memory. */
  memory: number;
  /** Milliseconds of processor time, of all sessions. */
  time: number;
}

export interface MemoryWatchOptions {
  sessions: ReadonlyMap<number, Watched>;
  isolates: number;
  /** Megabytes that one isolate may use. */
  memory: number;
  /** Whether the process has one session only. */
  alone: boolean;
  /** Bytes of the process's resident memory. */
  resident(): number;
  /** Called once, when the memory is not released. */
  unhealthy(): void;
}

export interface MemoryWatch {
  /** At the last measurement: `before` of a session that begins now. */
  readonly last: Usage;
  /** A session ends. `mayRun`: its isolate may still run, until `gone` is called. */
  ended(session: Watched, mayRun: boolean): void;
  gone(session: Watched): void;
  /** Measures the memory, and ends a session or reports the runner when it is over the bound. */
  measure(): void;
}

/**
 * The engine's memory limit is soft: some allocations pass it many times. So the process's resident memory is watched.
 * Over the bound, the session that has used the most processor time is ended, if the process has grown by more than its
 * sessions may use since they began: with `memory` if other sessions have used hardly any processor time since then, else
 * with `crowded`, and its request is run again, the last time in a runner of its own. Without such growth, earlier sessions
 * have left the memory behind: no session is ended then, the runner is reported (`unhealthy`), as when the memory stays
 * after a session's end.
 */
export function createMemoryWatch(options: MemoryWatchOptions): MemoryWatch {
  const { sessions, isolates, memory, alone, resident, unhealthy } = options;
  const megabytes = (count: number) => count * 1024 * 1024;
  const bound = () =>
    measurementsIdle < MAX_MEASUREMENTS.rest
      ? megabytes(ownMemory + isolates * idleMemory + (sessions.size + 1) * memory)
      : megabytes(ownMemory + isolates * REST_MEMORY);
  let last: Usage = { memory: resident(), time: 0 };
  /** Milliseconds of processor time of the sessions that are over. */
  let timeEnded = 0;
  /** Sessions that have ended, and whose isolates may still run. */
  const maybeRunning = new Set<Watched>();
  let measurementsOver = 0;
  let measurementsIdle = 0;
  let isUnhealthy = false;

  const reportUnhealthy = () => {
    if (!isUnhealthy) unhealthy();
    isUnhealthy = true;
  };

  const time = () =>
    [...sessions.values(), ...maybeRunning].reduce((sum, { processorTime }) => sum + processorTime, timeEnded);

  const isAlone = ({ before, processorTime }: Watched) =>
    alone || last.time - before.time - processorTime <= MAX_OTHERS_TIME;

  function blame(): void {
    const all = [...sessions.values()];
    const growth = last.memory - Math.min(...all.map(({ before }) => before.memory));
    if (growth <= megabytes((all.length + 1) * memory)) return reportUnhealthy();
    // An isolate that is disposed of ends by itself, or at the deadline.
    const running = all.filter(({ isDisposed }) => !isDisposed);
    if (running.length === 0) return;
    const heaviest = running.reduce((one, other) => (other.processorTime > one.processorTime ? other : one));
    if (heaviest.processorTime >= MIN_TIME) heaviest.fail(isAlone(heaviest) ? 'memory' : 'crowded', '');
    else if (measurementsOver >= MAX_MEASUREMENTS.busy) reportUnhealthy();
  }

  return {
    get last() {
      return last;
    },
    ended(session, mayRun) {
      if (mayRun) maybeRunning.add(session);
      else timeEnded += session.processorTime;
    },
    gone(session) {
      maybeRunning.delete(session);
      timeEnded += session.processorTime;
    },
    measure() {
      last = { memory: resident(), time: time() };
      measurementsIdle = sessions.size > 0 ? 0 : measurementsIdle + 1;
      measurementsOver = last.memory <= bound() ? 0 : measurementsOver + 1;
      if (measurementsOver === 0) return;
      if (sessions.size > 0) blame();
      else if (measurementsOver >= MAX_MEASUREMENTS.idle) reportUnhealthy();
    },
  };
}

/** Watches the process's memory until the process ends. */
export function watchMemory(options: Omit<MemoryWatchOptions, 'resident'>): MemoryWatch {
  const watch = createMemoryWatch({ ...options, resident: () => process.memoryUsage.rss() });
  setInterval(() => watch.measure(), interval).unref();
  return watch;
}
