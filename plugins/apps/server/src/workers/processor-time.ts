import { readFileSync } from 'node:fs';

/** Milliseconds of a tick, Linux's unit for the processor time of processes. */
const tick = 10;

/**
 * Processor time of a process in milliseconds, in steps of 10; undefined without `/proc` of Linux, or when the process is
 * gone.
 */
export function processorTime(pid: number | undefined): number | undefined {
  try {
    // The program's name, in parentheses, may contain spaces: fields count from behind it.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    return Number.isFinite(user + system) ? (user + system) * tick : undefined;
  } catch {
    return undefined;
  }
}
