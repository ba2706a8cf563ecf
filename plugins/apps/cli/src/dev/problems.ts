import { setTimeout as pause } from 'node:timers/promises';
import { sorted } from '../../../server/src/apps';
import { themesVersion } from '../../../server/src/sites';
import type { Invocation } from '../command';
import type { Host } from '../host';
import { countsOf, findProblems } from '../lint/find';
import { type Result, showResult } from '../lint/report';
import { createServices, type LintServices } from '../lint/services';
import { targetsOf } from '../lint/targets';
import { allThemes } from '../themes';

/** Milliseconds between two looks at the files. */
const EVERY = 1_000;

/**
 * Prints what `lint` finds, at first where there are problems, and when a changed file changes them. Returns what ends it.
 * It never fails: what cannot be checked is a note.
 */
export function watchProblems({ output, cwd }: Invocation, host: Host): () => Promise<void> {
  const end = new AbortController();
  let current: LintServices | undefined;
  let shown = '[]';

  async function check(): Promise<void> {
    const begin = performance.now();
    const places = allThemes(host);
    // Services of their own for each check: what they have warned of is that of these files.
    const ids = places.map(({ id }) => id);
    const services = createServices(host, ids, () => undefined);
    current = services;
    try {
      const targets = await targetsOf(services, places, undefined);
      const found = await findProblems(host, services, targets, cwd);
      if (!end.signal.aborted) show(sorted(found.problems), countsOf(targets, found), performance.now() - begin);
    } finally {
      current = undefined;
      await services.destroy();
    }
  }

  function show(problems: Result['problems'], counts: Result['counts'], time: number): void {
    const now = JSON.stringify(problems);
    if (now !== shown) showResult({ problems, notes: [], schedules: [], counts, time }, output);
    shown = now;
  }

  async function watch(): Promise<void> {
    for (let before: string | null = null; !end.signal.aborted; ) {
      const now = await themesVersion(host.themes);
      if (now !== before) await check().catch((error) => end.signal.aborted || output.note((error as Error).message));
      before = now;
      await pause(EVERY, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }

  const watching = watch();
  return async () => {
    end.abort();
    await current?.destroy();
    await watching;
  };
}
