import { spawn } from 'node:child_process';
import { type Ended, hostProcess, program } from './host-process';

export { type Ended, program };

interface Place {
  cwd: string;
  env?: Record<string, string>;
}

function environment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { APPS_THEMES_DIRECTORY: _themes, FORCE_COLOR: _colours, ...own } = process.env;
  return { ...own, ...env };
}

/** Runs `strapi-plugin-apps` to its end as npm starts it, without a terminal. */
export async function runCli(args: string[], { cwd, env }: Place): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: environment(env) });
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

/** The same for one of many commands: in a process that has run others, so that it need not load what they have loaded. */
export function runReused(args: string[], { cwd, env }: Place): Promise<Ended> {
  const own = environment({ NODE_ENV: 'test', ...env });
  return hostProcess(own).command(args, { cwd, env: own });
}
