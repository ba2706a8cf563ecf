import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { createOutbox, encodeFrame } from '../../../../shared/frames';
import type { FromRunner, RunnerOptions, ToRunner } from '../../../../shared/logic-protocol';
import { killProcess, startConfined } from '../../common/confined-process';
import { RequestMap } from '../../common/request-objects';
import type { SandboxConfig } from '../../config.types';
import {
  createRunnerMessages,
  type Fault,
  type Runner,
  type RunnerMessages,
  type RunnerProcessOptions,
  type SessionPort,
} from './runner';

/** Milliseconds without a message from a runner after one to it: then it is asked whether it reads messages, and must answer. */
export const MAX_SILENCE = 300;
export const PING_TIMEOUT = 900;

interface LivenessOptions {
  /** Asks the runner for a message. */
  ping(): void;
  /** The runner does not read messages. Called once. */
  dead(): void;
}

/** Watches whether a runner reads what it is sent, whatever its sessions do: they run in other threads. */
interface Liveness {
  /** A message was sent. */
  sent(): void;
  /** Any message has arrived. */
  heard(): void;
  stop(): void;
}

export function createLiveness({ ping, dead }: LivenessOptions): Liveness {
  /** The time of the first message that was sent after the last one that has arrived. */
  let since: number | undefined;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const wait = (time: number) => {
    // If this process was busy, an unread message may be waiting: it is read before the runner is judged.
    const own = setTimeout(() => setImmediate(() => timer === own && check()), time);
    timer = own;
  };
  function check(): void {
    timer = undefined;
    if (since === undefined || isStopped) return;
    const silence = performance.now() - since;
    if (isAsked) dead();
    else if (silence < MAX_SILENCE) wait(MAX_SILENCE - silence);
    else {
      isAsked = true;
      ping();
      wait(PING_TIMEOUT);
    }
  }

  return {
    sent() {
      since ??= performance.now();
      if (!timer && !isStopped) wait(MAX_SILENCE);
    },
    heard() {
      since = undefined;
      if (!isAsked) return;
      isAsked = false;
      clearTimeout(timer);
      timer = undefined;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Milliseconds that a runner's last messages may take to arrive after its end. */
const LAST_MESSAGES_TIMEOUT = 100;

/** Characters kept of a runner's output before it has started. */
const MAX_PRINTED_SIZE = 500;

/** Packages that the runner loads, those that are installed; of isolated-vm only one release is loaded. */
const packages = ['isolated-vm', 'isolated-vm-7', 'strapi-plugin-apps-node22', 'strapi-plugin-apps-python'];

/**
 * Half of a session's time is V8's for its new context, most of it garbage at its end (docs/decisions/sandbox-cost.md). With 8 MB
 * for new objects they are hardly collected alone; isolated-vm gives so little that every eighth context has a collection. Compiled
 * code stays although no session has used it since the last collections.
 */
const contextFlags = ['--min-semi-space-size=8', '--max-semi-space-size=8', '--no-flush-bytecode'];
const flags = ['--no-node-snapshot', '--single-threaded-gc', ...contextFlags];

interface RunnerChild {
  child: ChildProcess;
  /** Carries the frames of messages in both directions. */
  pipe: Socket;
  /** The beginning of its output, after `: `; empty without output. */
  printed(): string;
}

/** Starts the process of a runner, confined according to the configuration. A failure comes as the 'error' event of `child`. */
export function spawnRunner(path: string, runner: RunnerOptions, config: SandboxConfig): RunnerChild {
  const program = { path, args: [JSON.stringify(runner)], flags, packages, addons: true };
  const child = startConfined(program, config, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  // A process that could not start may have no streams.
  const pipe = (child.stdio?.[3] as Socket | undefined) ?? new Socket().destroy();
  const printed = readPrinted(child);
  // Does not keep the server alive; the runner ends with the server.
  child.unref();
  pipe.unref();
  return { child, pipe, printed };
}

/** Reports how a process has ended, after its last messages have been read. */
function whenOver(child: ChildProcess, report: (code: number | null, signal: string | null) => void): void {
  child.once('exit', (code, signal) => {
    const timer = setTimeout(over, LAST_MESSAGES_TIMEOUT);
    child.once('close', over);
    function over(): void {
      clearTimeout(timer);
      child.removeListener('close', over);
      report(code, signal);
    }
  });
}

/** Keeps the beginning of a process's standard error, which also has errors of the sandbox command. */
function readPrinted(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8', 0, MAX_PRINTED_SIZE - text.length);
    if (text.length >= MAX_PRINTED_SIZE) child.stderr?.destroy();
  });
  return () => (text === '' ? '' : `: ${text.replace(/[^\x20-\x7e]+/g, ' ').trim()}`);
}

/** Milliseconds that a runner may take to start. */
const START_TIMEOUT = 15_000;

const MAX_REMEMBERED_PROGRAMS = 200;

/** Milliseconds after the end of a session that failed or was stopped, within which its isolate may end the process. */
const END_TIME = 1000;

/** Starts a runner process: confined, and ended only by SIGKILL or by itself. */
export const startRunner = (options: RunnerProcessOptions): Runner => new RunnerProcess(options);

class RunnerProcess implements Runner {
  readonly sessions = new RequestMap<SessionPort>();
  readonly programs = new LRUCache<string, true>({ max: MAX_REMEMBERED_PROGRAMS });
  readonly spent: Promise<void>;
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  usable = true;
  started = false;
  private readonly child: ChildProcess;
  private readonly pipe: Socket;
  /** The beginning of its output, for the log. */
  private readonly printed: () => string;
  private readonly messages: RunnerMessages;
  private readonly liveness: Liveness;
  private readonly post: (message: ToRunner) => void;
  private readonly resolve: { spent(): void; ready(): void; ended(): void };
  private fault: Fault = 'crash';
  /** Until when an isolate without a session may run. */
  private mayRunUntil = 0;
  private nextId = 1;
  /** Pings that it has not answered. */
  private pings = 0;

  constructor(private readonly options: RunnerProcessOptions) {
    const { path, runner, config } = options;
    const [spent, ready, ended] = [signal(), signal(), signal()];
    [this.spent, this.ready, this.ended] = [spent.promise, ready.promise, ended.promise];
    this.resolve = { spent: spent.resolve, ready: ready.resolve, ended: ended.resolve };
    ({ child: this.child, pipe: this.pipe, printed: this.printed } = spawnRunner(path, runner, config));
    this.post = createOutbox((list) => this.write(list), setImmediate);
    this.liveness = createLiveness({ ping: () => this.ping(), dead: () => this.dead() });
    this.messages = createRunnerMessages({
      messageSize: runner.messageSize,
      receive: (message) => this.receive(message),
    });
    this.watchStart();
    this.watchEnd();
    this.pipe.on('error', () => undefined);
    this.pipe.on('data', (chunk: Buffer) => this.read(chunk));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get alone(): boolean {
    return this.options.runner.alone;
  }

  attach(port: SessionPort): number {
    const id = this.nextId++;
    this.sessions.set(id, port);
    this.messages.begun();
    return id;
  }

  detach(id: number, mayRun: boolean): void {
    this.sessions.delete(id);
    if (mayRun) this.mayRunUntil = performance.now() + END_TIME;
    this.killWhenEmpty();
  }

  send(message: ToRunner): void {
    this.post(message);
    // A process that has not started reads nothing yet. One that is alone has no other sessions to be saved.
    if (this.started && !this.alone) this.liveness.sent();
  }

  kill(): void {
    this.end(null);
  }

  private watchStart(): void {
    const slow = setTimeout(() => this.kill(), START_TIMEOUT);
    void this.ended.then(this.resolve.ready);
    void this.ready.then(() => {
      clearTimeout(slow);
      this.child.stderr?.destroy();
    });
  }

  private watchEnd(): void {
    this.child.on('error', (error) => {
      this.options.unavailable(error.message);
      this.gone(null);
    });
    whenOver(this.child, (code, signal) => {
      // Without a signal it has not crashed but exited, for example because the program is missing.
      const gaveUp = this.fault === 'crash' && signal === null;
      if (gaveUp) this.options.unavailable(`the runner ended with code ${code}${this.printed()}`);
      this.gone(gaveUp ? null : this.fault);
    });
  }

  /** Accepts no more sessions. */
  private retire(): void {
    this.usable = false;
    this.resolve.spent();
  }

  private end(why: Fault): void {
    this.retire();
    this.liveness.stop();
    this.fault = why;
    killProcess(this.child);
    this.pipe.destroy();
  }

  private gone(why: Fault): void {
    this.retire();
    this.liveness.stop();
    this.pipe.destroy();
    const ports = this.sessions.values();
    this.sessions.clear();
    const isAlone = ports.length === 1 && performance.now() > this.mayRunUntil;
    for (const port of ports) port.lost(isAlone ? why : null);
    this.resolve.ended();
  }

  private killWhenEmpty(): void {
    if ((!this.usable || this.alone) && this.sessions.size === 0) this.kill();
  }

  private ping(): void {
    this.pings += 1;
    this.post({ type: 'ping' });
  }

  private dead(): void {
    this.kill();
    this.options.misbehaved('because it no longer read messages; its requests run again');
  }

  private write(list: ToRunner[]): void {
    // The 'exit' event reports a runner that is gone.
    if (this.pipe.destroyed) return;
    this.pipe.write(framesOf(list).join(''));
  }

  private read(chunk: Buffer): void {
    this.liveness.heard();
    try {
      this.messages.read(chunk);
    } catch (error) {
      this.end('breach');
      this.options.misbehaved(`for what it sent: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** False: the message concerns no open session, or repeats an earlier one. */
  private receive(message: FromRunner): boolean {
    if ('session' in message) {
      const port = this.sessions.get(message.session);
      port?.receive(message);
      return port !== undefined;
    }
    if (message.type === 'pong') return this.pings-- > 0;
    if (message.type === 'ready') return this.begun();
    const isNews = this.usable;
    this.retire();
    if (message.type === 'unavailable') {
      this.fault = null;
      this.options.unavailable(message.message);
    } else this.killWhenEmpty();
    return isNews;
  }

  /** It has started. False: it has said so before. */
  private begun(): boolean {
    const isFirst = !this.started;
    this.started = true;
    this.resolve.ready();
    // What was sent meanwhile is read from now on.
    if (!this.alone) this.liveness.sent();
    return isFirst;
  }
}

/** A promise, and the function that resolves it. */
function signal(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Messages in their order. The answer to a host call is a frame of its own: it may have megabytes, and is JSON already. */
function framesOf(list: readonly ToRunner[]): string[] {
  const frames: string[] = [];
  let others: ToRunner[] = [];
  const addOthers = () => {
    if (others.length > 0) frames.push(encodeFrame({ kind: 'messages', number: 0, text: JSON.stringify(others) }));
    others = [];
  };
  for (const message of list) {
    if (message.type === 'reply') {
      addOthers();
      frames.push(encodeFrame({ kind: message.type, number: message.session, text: message.data }));
    } else others.push(message);
  }
  addOthers();
  return frames;
}
