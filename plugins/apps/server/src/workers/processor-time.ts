import { readFileSync } from 'node:fs';

/** Milliseconds of a tick in which Linux counts the time of processes. */
const tick = 10;

/**
 * Milliseconds of the processor that a process has used, to the next 10; undefined where the system does not say (it is
 * read from `/proc`, as on Linux) or the process is gone.
 */
export function processorTime(pid: number | undefined): number | undefined {
  try {
    // The name of the program, in parentheses, may hold spaces: fields are counted from behind it.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    return Number.isFinite(user + system) ? (user + system) * tick : undefined;
  } catch {
    return undefined;
  }
}
