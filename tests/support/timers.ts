import { afterAll, beforeAll, expect } from 'vitest';
import type { Host } from './host';
import { within } from './time';

type Box = typeof globalThis & { usual: typeof setTimeout; caught?: (() => void) | undefined };

interface Timer {
  milliseconds: number;
  /** Name of the function that it calls; a bundler may have put a number after it. */
  name?: string;
}

/**
 * A timer in the process of a host that a test need not wait for: `fire` lets its time be over now. It is the last one of this
 * length that was started after the hook.
 */
export function useTimer(host: Host, { milliseconds, name = '' }: Timer): { fire(): Promise<void> } {
  beforeAll(() =>
    host.run(
      (_strapi, milliseconds, name) => {
        const { setTimeout } = globalThis;
        const catching = (work: () => void, time?: number, ...args: unknown[]) => {
          const timer = setTimeout(work, time, ...(args as []));
          if (time === milliseconds && work.name.replace(/\d+$/, '') === name)
            (globalThis as Box).caught = () => {
              clearTimeout(timer);
              work();
            };
          return timer;
        };
        (globalThis as Box).usual = setTimeout;
        globalThis.setTimeout = Object.assign(catching, setTimeout) as typeof setTimeout;
      },
      milliseconds,
      name,
    ),
  );
  // The process may have another host then.
  afterAll(() =>
    host.run(() => {
      globalThis.setTimeout = (globalThis as Box).usual;
      (globalThis as Box).caught = undefined;
    }),
  );
  const fireOnce = () =>
    host.run(() => {
      const { caught } = globalThis as Box;
      (globalThis as Box).caught = undefined;
      caught?.();
      return caught !== undefined;
    });
  return {
    async fire() {
      expect(await within(20_000, fireOnce, (hasFired) => hasFired)).toBe(true);
    },
  };
}
