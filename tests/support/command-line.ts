import { spawn } from 'node:child_process';
import path from 'node:path';
import { repository } from './theme';

/** The program as npm links it. */
export const program = path.join(repository, 'plugins', 'apps', 'bin', 'strapi-plugin-apps.js');

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `strapi-plugin-apps` to its end, without a terminal. */
export async function runCli(
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Ended> {
  const { APPS_THEMES_DIRECTORY: _themes, FORCE_COLOR: _colours, ...own } = process.env;
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...own, ...env } });
  const ended: Ended = { code: null, out: '', err: '' };
  child.stdout.on('data', (text) => {
    ended.out += text;
  });
  child.stderr.on('data', (text) => {
    ended.err += text;
  });
  ended.code = await new Promise((done) => child.once('close', done));
  return ended;
}
