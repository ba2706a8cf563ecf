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

/** Looks in a row, with nobody to blame, after which the memory is not expected to come back. */
const patience = 20;

/**
 * The engine's memory limit is soft: some allocations pass it many times. While sessions are open, the process's resident
 * memory is watched; over the bound, the session that has used the most processor time is ended. It is known to be the one
 * only if there was no other since the memory was last within its bound, for that of ended sessions comes back late: else
 * its request is run again, the last time in a runner of its own. If the memory does not come back, `sick` is told.
 */
export function watchMemory(
  sessions: ReadonlyMap<number, Session>,
  options: { isolates: number; memory: number },
  sick: () => void,
): void {
  const { isolates, memory } = options;
  const bound = () => (ownMemory + isolates * idleMemory + (sessions.size + 1) * memory) * 1024 * 1024;
  let unexplained = 0;
  /** Sessions when the memory was last within its bound, and the newest of them: the server counts them up. */
  let [before, newest] = [0, 0];
  const look = () => {
    if (process.memoryUsage.rss() <= bound()) {
      unexplained = 0;
      before = sessions.size;
      newest = Math.max(newest, ...sessions.keys());
      return;
    }
    if (sessions.size === 0) return;
    const suspects = before + Math.max(newest, ...sessions.keys()) - newest;
    const [heaviest] = [...sessions.values()].sort((a, b) => b.processorTime - a.processorTime);
    if (heaviest.processorTime >= leastTime) heaviest.fail(suspects === 1 ? 'memory' : 'crowded', '');
    else unexplained += 1;
    if (unexplained === patience) sick();
  };
  setInterval(look, interval).unref();
}
