import type { Session } from './session';

/** Milliseconds between two looks at the process's memory. */
const interval = 50;

/** Megabytes of the runner without any session, with room to breathe. */
const ownMemory = 128;

/**
 * Milliseconds of processor time below which a session is not to blame: hundreds of megabytes take longer to fill, and
 * a Python session may use some tens before its own code runs.
 */
const leastTime = 150;

/** Looks in a row, with nobody to blame, after which the memory is not expected to come back. */
const patience = 20;

/**
 * The engine's memory limit is soft: some allocations pass it two- or threefold. While sessions are open, the process's
 * resident memory is watched; over the bound, the session that has used the most processor time is ended. The memory of
 * one that has ended comes back late: others do not pay for it. If it does not come back, `sick` is told.
 */
export function watchMemory(
  sessions: ReadonlyMap<number, Session>,
  options: { isolates: number; memory: number },
  sick: () => void,
): void {
  const bound = (ownMemory + options.isolates * options.memory) * 1024 * 1024;
  let unexplained = 0;
  const look = () => {
    if (sessions.size === 0 || process.memoryUsage.rss() <= bound) {
      unexplained = 0;
      return;
    }
    const [heaviest] = [...sessions.values()].sort((a, b) => b.processorTime - a.processorTime);
    if (heaviest.processorTime >= leastTime) heaviest.fail('memory', '');
    else unexplained += 1;
    if (unexplained === patience) sick();
  };
  setInterval(look, interval).unref();
}
