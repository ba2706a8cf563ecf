import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sorted } from '../../server/src/apps';
import { themesVersion } from '../../server/src/sites';
import { CannotRun, exitCodes, type Invocation, type RunCommand } from './command';
import type { Host } from './host';
import { type Result, showResult } from './lint';
import { countsOf, findProblems, targetsOf } from './lint/find';
import { createServices, type LintServices } from './lint/types';
import { allThemes } from './themes';

/** Milliseconds between two looks at the files. */
const EVERY = 1_000;

/**
 * Prints what `lint` finds, at first where there are problems, and when a changed file changes them. Returns what ends it.
 * It never fails: what cannot be checked is a note.
 */
function watchProblems({ output, cwd }: Invocation, host: Host): () => Promise<void> {
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

/** Signals that end Strapi too, so that it closes its database. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `strapi-plugin-apps dev` (docs/reference/command-line.md#dev). Ends when Strapi ends. */
export const run: RunCommand = async (invocation) => {
  const host = invocation.host();
  const root = host.requireRoot();
  const { port } = invocation.options;
  if (typeof port === 'string' && !isPort(port)) throw new CannotRun(`--port: ${port} is not a port from 1 to 65535`);
  if (!existsSync(host.themes))
    throw new CannotRun(`There is no themes folder ${host.themes}`, 'Run `npx strapi-plugin-apps init`.');
  const child = spawn(process.execPath, [strapiProgram(root), 'develop'], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_ENV: 'development',
      APPS_DEV: 'true',
      APPS_THEMES_DIRECTORY: host.themes,
      ...(typeof port === 'string' && { PORT: port }),
    },
  });
  const forward = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  const stop = watchProblems(invocation, host);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code === 0 || signal !== null ? exitCodes.fine : exitCodes.cannotRun;
  } finally {
    await stop();
    for (const signal of signals) process.off(signal, forward);
  }
};

const isPort = (text: string) => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;

/** The program `strapi` of the host. */
function strapiProgram(root: string): string {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('@strapi/strapi/package.json');
    return join(dirname(manifest), 'bin', 'strapi.js');
  } catch (error) {
    throw new CannotRun(`Strapi cannot be found in ${root}: ${(error as Error).message}`, 'Run `npm install` there.');
  }
}
