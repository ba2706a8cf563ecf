import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { encodeFrame } from '../../../../shared/frames';
import type { FromRunner, ToRunner } from '../../../../shared/logic-protocol';
import { createOutbox } from '../../../../shared/outbox';
import { killProcess } from '../../common/confined-process';
import { createLiveness, type Liveness } from './liveness';
import type { Fault, Runner, RunnerProcessOptions, SessionPort } from './runner';
import { spawnRunner, whenOver } from './runner-child';
import { createRunnerMessages, type RunnerMessages } from './runner-messages';

/** Milliseconds that a runner may take to start. */
const START_TIMEOUT = 15_000;

const MAX_REMEMBERED_PROGRAMS = 200;

/** Milliseconds after the end of a session that failed or was stopped, within which its isolate may end the process. */
const END_TIME = 1000;

/** Starts a runner process: confined, and ended only by SIGKILL or by itself. */
export const startRunner = (options: RunnerProcessOptions): Runner => new RunnerProcess(options);

class RunnerProcess implements Runner {
  readonly sessions = new Map<number, SessionPort>();
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
    const ports = [...this.sessions.values()];
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
    this.pipe.write(encodeFrame({ kind: 'messages', number: 0, text: JSON.stringify(list) }));
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
