/** Milliseconds between two measurements. */
const interval = 50;

/** The part of a session that is used here. */
export interface Sharing {
  /** Whether its isolate works, or would with a processor: it does not wait for the server. */
  readonly isRunning: boolean;
  /** Adds milliseconds in which its isolate got no processor. */
  delayed(time: number): void;
}

/** Share of the clock's time above which a session counts as undisturbed: measuring is not exact. */
const FULL_SHARE = 0.9;

/**
 * Measures how much of the processor the sessions get. Which thread has used how much is not known while it runs, so that the
 * process's time since the last call is divided by the sessions that run now: they have the same priority.
 * @param processorTime milliseconds that the process has used so far  @returns the function that measures
 */
export function createProcessorShare(
  sessions: ReadonlyMap<number, Sharing>,
  processorTime: () => number,
  now: () => number = () => performance.now(),
): () => void {
  let last = { now: now(), used: processorTime() };
  return () => {
    const next = { now: now(), used: processorTime() };
    const time = next.now - last.now;
    const running = [...sessions.values()].filter(({ isRunning }) => isRunning);
    const share = (next.used - last.used) / (time * running.length);
    last = next;
    if (share < FULL_SHARE) for (const session of running) session.delayed(time * (1 - share));
  };
}

/** Measures until the process ends. */
export function watchProcessor(sessions: ReadonlyMap<number, Sharing>): void {
  const used = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  setInterval(createProcessorShare(sessions, used), interval).unref();
}
