import type { Session } from './session';

/** Milliseconds between two looks at the process's memory. */
const interval = 50;

/** Megabytes of the runner without any session, with room to breathe, and of an isolate that waits for one. */
const ownMemory = 128;
const idleMemory = 16;

/**
 * Milliseconds of processor time below which a session is not to blame: hundreds of megabytes take longer to fill, and
 * a Python session may use some tens before its own code runs.
 */
const leastTime = 150;

/** Looks in a row over the bound after which the memory is not expected to come back: with sessions, and without. */
const patience = { busy: 20, idle: 4 };

/** What a session is for the watch. */
export type Watched = Pick<Session, 'fail' | 'memoryBefore' | 'processorTime' | 'shared'>;

export interface MemoryWatchOptions {
  sessions: ReadonlyMap<number, Watched>;
  isolates: number;
  /** Megabytes that one isolate may use. */
  memory: number;
  /** Whether the process has one session only. */
  alone: boolean;
  /** Bytes of the process's resident memory. */
  resident(): number;
  /** The memory does not come back: told once. */
  sick(): void;
}

export interface MemoryWatch {
  /** Bytes of resident memory when it was last looked at: what the process has before a session that begins now. */
  readonly last: number;
  /** A session has begun; it is in `sessions`. */
  begun(session: Watched): void;
  /** Looks at the memory. */
  look(): void;
}

/**
 * The engine's memory limit is soft: some allocations pass it many times. So the process's resident memory is watched.
 * Over the bound, the session that has used the most processor time is ended, if the process has grown by more than its
 * sessions may use since they began: with `memory` if it was the only one in that time, else with `crowded`, and its
 * request is run again, the last time in a runner of its own. What has not grown meanwhile is memory that sessions before
 * have left behind: no session pays for that, the runner does (`sick`), as when the memory stays after a session's end.
 */
export function createMemoryWatch(options: MemoryWatchOptions): MemoryWatch {
  const { sessions, isolates, memory, alone, resident, sick } = options;
  const megabytes = (count: number) => count * 1024 * 1024;
  const bound = () => megabytes(ownMemory + isolates * idleMemory + (sessions.size + 1) * memory);
  let last = resident();
  /** Sessions that the process has had since the last look. */
  let present = 0;
  let looksOver = 0;
  let isSick = false;

  const tellSick = () => {
    if (!isSick) sick();
    isSick = true;
  };

  function blame(): void {
    const all = [...sessions.values()];
    const growth = last - Math.min(...all.map(({ memoryBefore }) => memoryBefore));
    if (growth <= megabytes((all.length + 1) * memory)) return tellSick();
    const heaviest = all.reduce((one, other) => (other.processorTime > one.processorTime ? other : one));
    if (heaviest.processorTime >= leastTime) heaviest.fail(alone || !heaviest.shared ? 'memory' : 'crowded', '');
    else if (looksOver >= patience.busy) tellSick();
  }

  return {
    get last() {
      return last;
    },
    begun(session) {
      present += 1;
      session.shared = present > 1;
      if (present > 1) for (const other of sessions.values()) other.shared = true;
    },
    look() {
      last = resident();
      present = sessions.size;
      looksOver = last <= bound() ? 0 : looksOver + 1;
      if (looksOver === 0) return;
      if (sessions.size > 0) blame();
      else if (looksOver >= patience.idle) tellSick();
    },
  };
}

/** Looks at the process's memory again and again, until it ends. */
export function watchMemory(options: Omit<MemoryWatchOptions, 'resident'>): MemoryWatch {
  const watch = createMemoryWatch({ ...options, resident: () => process.memoryUsage.rss() });
  setInterval(() => watch.look(), interval).unref();
  return watch;
}
