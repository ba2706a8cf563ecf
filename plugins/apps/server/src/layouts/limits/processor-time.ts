/**
 * Milliseconds of processor time that this process has used so far, all threads together. A reading takes up to 50 µs in a
 * process with many threads, such as Strapi's.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds after which a reading is too old to be shared. */
const MAX_AGE = 20;

let reading = { at: Number.NEGATIVE_INFINITY, time: 0 };

/** The same, read up to `MAX_AGE` ms ago. */
export function recentProcessorTime(): number {
  const at = performance.now();
  if (at - reading.at > MAX_AGE) reading = { at, time: processorTime() };
  return reading.time;
}
