import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '@strapi/strapi';
import { configuration } from './configure';

const root = path.resolve(__dirname, '..', '..');
const host = path.join(__dirname, 'host-process.cjs');
/** `strapi-plugin-apps` as npm links it. */
export const program = path.join(root, 'plugins', 'apps', 'bin', 'strapi-plugin-apps.js');

/**
 * Runs a function in the host's process and returns its result as JSON. Only its source is sent: it can use its
 * parameters and Node.js, but no variables of its surroundings.
 */
export type Run = <A extends unknown[], R>(
  work: (strapi: Core.Strapi, ...args: A) => R,
  ...args: A
) => Promise<Awaited<R>>;

interface Reply {
  url?: string;
  stopped?: true;
  code?: number;
  call?: number;
  result?: unknown;
  error?: { name: string; message: string; details?: unknown };
}

/** A process that has one host at a time, or runs a command. */
export interface HostProcess {
  /** Boots a host with this environment, and resolves to its address; rejects with the output when it does not start. */
  start(env: NodeJS.ProcessEnv): Promise<string>;
  /** Output of the present host that has come over the pipe. */
  output(): string;
  /** Everything that the present host has printed up to now. */
  printed(): Promise<string>;
  run: Run;
  /** Runs a command of the program `strapi-plugin-apps`, in a reused process. */
  command(args: string[], place: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ended>;
  /** Ends the present host: in a reused process the host only, otherwise the process. */
  stop(): Promise<void>;
}

/** What a program has printed, and its exit code. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Sends functions to the process and returns their results. */
function caller(child: ChildProcess): Run {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let calls = 0;
  child.on('message', ({ call, result, error }: Reply) => {
    const pending = call === undefined ? undefined : waiting.get(call);
    if (call === undefined || !pending) return;
    waiting.delete(call);
    if (error) pending.reject(Object.assign(new Error(error.message), error));
    else pending.resolve(result);
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The host has ended.'));
    waiting.clear();
  });
  return (work, ...args) =>
    new Promise((resolve, reject) => {
      calls += 1;
      waiting.set(calls, { resolve: resolve as (value: unknown) => void, reject });
      child.send({ call: calls, source: work.toString(), args });
    });
}

/**
 * More megabytes for new objects than by default: with 16, collecting them takes a seventh of the tests' time in hosts. A host with a
 * process of its own has the default, as sites do: some tests measure its memory.
 */
const youngGeneration = '--max-semi-space-size=64';

/** Hosts and commands of one process: each leaves something in its memory. */
const usesOfProcess = 12;

/** Reused processes that have nothing to do. */
const idle: HostProcess[] = [];

function open(env: NodeJS.ProcessEnv, isReused: boolean): HostProcess {
  const child = fork(host, {
    cwd: root,
    env: isReused ? { ...process.env, TEST_REUSED: 'true', NODE_ENV: 'test' } : env,
    silent: true,
    execArgv: isReused ? [youngGeneration] : [],
  });
  const texts = { all: '', out: '', err: '' };
  for (const name of ['out', 'err'] as const)
    child[`std${name}`]?.setEncoding('utf8').on('data', (text: string) => {
      texts.all += text;
      texts[name] += text;
    });
  let exitCode: number | null | undefined;
  const ended = new Promise<void>((done) =>
    child.once('exit', (code) => {
      exitCode = code;
      if (idle.includes(one)) idle.splice(idle.indexOf(one), 1);
      done();
    }),
  );
  /** Later than its end: everything that it has printed is here. */
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  const isEnded = () => exitCode !== undefined;
  const run = caller(child);
  let uses = 0;

  /** Sends a message and resolves to the part `name` of its reply; undefined when the process has ended. */
  const ask = async <K extends keyof Reply>(name: K, message?: object): Promise<Reply[K]> => {
    let take: (reply: Reply) => void = () => undefined;
    const reply = new Promise<Reply[K]>((done) => {
      take = (one) => name in one && done(one[name]);
      child.on('message', take);
    });
    if (message) child.send(message);
    const answer = await Promise.race([reply, ended.then(() => undefined)]);
    child.off('message', take);
    return answer;
  };

  const printed = async () => {
    // Output before a mark comes over the pipe before it.
    const mark = `${randomUUID()}\n`;
    await run((_strapi, mark) => {
      for (const stream of [process.stdout, process.stderr]) stream.write(mark);
    }, mark);
    const names = Object.keys(texts) as (keyof typeof texts)[];
    while (!['out', 'err'].every((name) => texts[name as 'out'].includes(mark))) await pause(5);
    for (const name of names) texts[name] = texts[name].replaceAll(mark, '');
    return texts.all;
  };

  /** Begins with the next host or command. */
  const begin = () => {
    Object.assign(texts, { all: '', out: '', err: '' });
    uses += 1;
  };

  const kill = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  };

  /** Lets the next host have the process, which has none now. */
  const leave = () => (uses < usesOfProcess ? void idle.push(one) : kill());

  const one: HostProcess = {
    async start(env) {
      begin();
      const url = await ask('url', isReused ? { start: env } : undefined);
      // The start's output is complete before the tests read it.
      await (url === undefined ? closed : printed());
      if (url === undefined) throw new Error(`The host did not start (exit code ${exitCode}):\n${texts.all}`);
      return url;
    },
    output: () => texts.all,
    printed,
    run,
    async command(args, place) {
      begin();
      const code = await ask('code', { command: { program, args, ...place } });
      await (code === undefined ? closed : printed());
      const { out, err } = texts;
      if (code !== undefined) await leave();
      return { code: code ?? exitCode ?? null, out, err };
    },
    async stop() {
      if (!isReused) return kill();
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      if (!isEnded()) await ask('stopped', { stop: true });
      clearTimeout(timer);
      if (isEnded()) return;
      await printed();
      await leave();
    },
  };
  return one;
}

/** What a process reads before it runs a program: a host with any of these has a process of its own. */
const readAtStart = ['TZ', 'LANG', 'LC_ALL', 'UV_THREADPOOL_SIZE', 'TEST_PLUGIN'];

function canBeReused(env: NodeJS.ProcessEnv): boolean {
  const isUsual = readAtStart.every((name) => env[name] === process.env[name]);
  const options = env.NODE_OPTIONS ?? process.env.NODE_OPTIONS;
  return isUsual && env.NODE_ENV === 'test' && (options === process.env.NODE_OPTIONS || options === configuration);
}

/** A process for a host or a command with this environment: one that has ended its work, or a new one. */
export function hostProcess(env: NodeJS.ProcessEnv): HostProcess {
  const isReused = canBeReused(env);
  return (isReused && idle.pop()) || open(env, isReused);
}
