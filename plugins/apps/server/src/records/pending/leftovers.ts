import { AsyncLocalStorage } from 'node:async_hooks';
import type { Batches } from './batch';

/** Milliseconds between two looks for abandoned batches: each is one short read. */
const sweepEvery = 5_000;

/**
 * Deletes what ended processes have left of their batches: at the start, and then every few seconds. `stop`
 * waits for a removal that is running.
 * @param onError receives the error of an attempt; the next one follows
 */
export function createLeftovers(
  batches: Pick<Batches, 'sweep'>,
  onError: (error: unknown) => void,
): { start(): void; stop(): Promise<void> } {
  const outside = AsyncLocalStorage.snapshot();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const sweep = (): void => {
    running = batches.sweep().catch(onError);
  };
  return {
    start() {
      outside(() => {
        sweep();
        timer = setInterval(() => void running.then(sweep), sweepEvery).unref();
      });
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
