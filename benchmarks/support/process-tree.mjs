/** Processor time and memory of a server with all its processes, from Linux's /proc. */
import { readFileSync } from 'node:fs';

/** The text of a file of /proc, or '' when the process has ended. */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Ids of a process and of all its descendants, those of its other threads included. */
export function treeOf(pid) {
  const children = read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean);
  return [Number(pid), ...children.flatMap(treeOf)];
}

/** Seconds of processor time of a process, with that of its children that have ended. Resolution: 10 ms. */
export function timeOf(pid) {
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  return ticks / 100;
}

/** Seconds of processor time that the trees of these processes have used so far. */
export const treeTime = (pids) => pids.flatMap(treeOf).reduce((sum, pid) => sum + timeOf(pid), 0);

/** Resident megabytes of a process and its descendants; pages that they share count for each of them. */
export const treeMemory = (pid) =>
  treeOf(pid).reduce(
    (sum, one) => sum + Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${one}/status`))?.[1] ?? 0) / 1024,
    0,
  );
