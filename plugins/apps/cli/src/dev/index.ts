import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Run } from '../command';
import { CannotRun, exitCodes } from '../exit';
import { watchProblems } from './problems';

/** Signals that end Strapi too, so that it closes its database. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `strapi-plugin-apps dev` (docs/reference/command-line.md#dev). Ends when Strapi ends. */
export const run: Run = async (invocation) => {
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
