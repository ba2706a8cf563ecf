import type { FailureReason, FromRunner, RequestTime, WireProgram } from '../../shared/logic-protocol';
import type { IsolatePool } from './isolate-pool';
import { RunAgain } from './language-contexts';
import type { Usage } from './memory-watch';
import { createOwnAnswers } from './own-answers';
import { ownCall } from './own-calls';
import type { IsolateEvents, PooledIsolate } from './pooled-isolate';
import { askTime, timeIsOver } from './replies';
import { RequestClock } from './request-clock';

/** Milliseconds that an isolate gets to end once it is disposed of; after that its thread counts as blocked. */
const endTime = 100;

/** Milliseconds that a session has to send its stack after its time is over; then it ends without one. */
const STACK_TIMEOUT = 100;

/**
 * Milliseconds from the end of a session to the reply to its host call. Disposing of an isolate wakes its thread in the call.
 * A reply that comes just then would be passed to the call by isolated-vm although its memory has been freed, which ends the
 * process (docs/decisions/sandbox.md).
 */
const LAST_REPLY_DELAY = 50;

/** A line in the stacks of errors that come out of an isolate. */
const boundary = '<isolated-vm boundary>';

/** Limits of what a failed session sends: characters of the message and of the stack, and bytes of both together. */
const MAX_TEXT = { message: 500, stack: 1300, all: 4000 };

export interface SessionOptions {
  id: number;
  program: WireProgram;
  pool: IsolatePool;
  /** Characters that an answer or the arguments of host calls may have. */
  messageSize: number;
  /** What the process had used before the session. */
  before: Usage;
  send(message: FromRunner): void;
  /** The session no longer exists; its processor time is still known. `mayRun`: its isolate may still run, until `gone`. */
  ended(session: Session, mayRun: boolean): void;
  /** The isolate of a session with `mayRun` has ended. */
  gone(session: Session): void;
}

/** One session in one isolate: passes text between the server and the sandbox and enforces the time limit. */
export class Session implements IsolateEvents {
  private readonly isolate: PooledIsolate;
  private running: Promise<unknown> = Promise.resolve();
  private pending: ((reply: string) => void) | null = null;
  private over = false;
  private isLate = false;
  /** The running request's. */
  private clock: RequestClock | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly answerOwn = createOwnAnswers();
  private readonly begun = performance.now();
  private readonly timeBefore: number;

  constructor(private readonly options: SessionOptions) {
    this.isolate = options.pool.take(options.program);
    this.isolate.events = this;
    this.timeBefore = this.isolateTime();
  }

  /**
   * Milliseconds of processor time that the isolate has used since the session began; sessions before do not count. For
   * an isolate that was disposed of, the time since the session began: it reports none, and native code in it may still run.
   */
  get processorTime(): number {
    return this.isDisposed ? performance.now() - this.begun : this.isolateTime() - this.timeBefore;
  }

  /** Whether the isolate ends, or has ended, unexpectedly or by `stop`. */
  get isDisposed(): boolean {
    return this.isolate.native.isDisposed;
  }

  get before(): Usage {
    return this.options.before;
  }

  get isRunning(): boolean {
    return this.clock !== null && this.pending === null;
  }

  delayed(time: number): void {
    this.clock?.delayed(time);
  }

  private isolateTime(): number {
    return Number(this.isDisposed ? 0n : this.isolate.native.cpuTime) / 1e6;
  }

  open(data: string, time: RequestTime): void {
    this.run(time, async () => {
      try {
        await this.isolate.load(this.options.program);
      } catch (error) {
        this.fail(this.isolate.native.isDisposed ? 'memory' : 'program', messageOf(error));
        return undefined;
      }
      return data;
    });
  }

  call(data: string, time: RequestTime): void {
    this.run(time, async () => data);
  }

  /** Stops the time of the running request: the server waits for others in its host call. */
  pause(): void {
    if (this.isLate) return;
    this.clock?.pause();
    this.stopWatch();
  }

  resume(): void {
    if (this.isLate || !this.clock) return;
    this.clock.resume();
    this.watch(this.clock);
  }

  reply(data: string): void {
    this.pending?.(data);
    this.pending = null;
  }

  /** A host call of the sandbox. Never rejects: errors of the host are part of the reply. */
  host(data: unknown): Promise<string> {
    if (typeof data !== 'string') this.fail('broken', '');
    else if (data.startsWith(timeIsOver)) this.fail('time', data.slice(1, 1 + MAX_TEXT.stack));
    else if (data.length > this.options.messageSize) this.fail('size', '');
    if (this.over) return lastReply();
    if (this.isLate) return Promise.resolve(timeIsOver);
    if (data === askTime) return Promise.resolve(this.timeLeft());
    if ((data as string).startsWith(ownCall)) return this.own((data as string).slice(1));
    this.options.send({ type: 'host', session: this.options.id, data: data as string });
    return new Promise((resolve) => {
      this.pending = resolve;
    });
  }

  /** Answers an own call of the sandbox; one that the prelude would not have made ends the session. */
  private own(call: string): Promise<string> {
    const answer = this.answerOwn(call);
    if (answer !== null) return Promise.resolve(answer);
    this.fail('broken', '');
    return lastReply();
  }

  catastrophe(): void {
    this.fail('memory', '');
    this.options.send({ type: 'unhealthy' });
  }

  /** Frees the context of an idle session. */
  close(): void {
    if (this.over) return;
    this.over = true;
    this.options.ended(this, false);
    this.options.pool.release(this.isolate);
  }

  /** Ends the session, whose isolate is idle, so that its request runs again. */
  private runAgain(): void {
    if (this.over) return;
    this.options.send({ type: 'failed', session: this.options.id, reason: 'again', message: '' });
    this.close();
  }

  /** Ends the session now, in any state, and reports the reason. */
  fail(reason: FailureReason, message: string): void {
    if (this.over) return;
    this.options.send({ type: 'failed', session: this.options.id, reason, message });
    this.stop();
  }

  /** Ends the session now, in any state. */
  stop(): void {
    if (this.over) return;
    this.over = true;
    this.options.ended(this, true);
    void lastReply().then((reply) => this.reply(reply));
    this.options.pool.discard(this.isolate);
    const timer = setTimeout(() => this.options.send({ type: 'unhealthy' }), endTime);
    void this.running.finally(() => {
      clearTimeout(timer);
      this.options.gone(this);
    });
  }

  /** Answers Python: JavaScript ends at the engine's timeout, which cannot be moved, and is never delayed. */
  private timeLeft(): string {
    const left = this.options.program.language === 'python' ? (this.clock?.left() ?? 0) : 0;
    if (left > 0) this.reportDelay(left);
    return left > 0 ? String(left) : timeIsOver;
  }

  private reportDelay(left: number): void {
    this.options.send({ type: 'delayed', session: this.options.id, time: Math.ceil(left) });
  }

  /**
   * Sends what `prepare` returns, under the session's time limit. When the time is over, the prelude sends the stack if a host
   * call is pending; else V8's own timeout gives it.
   */
  private run({ remaining, latest }: RequestTime, prepare: () => Promise<string | undefined>): void {
    const time = Math.max(1, remaining);
    const isDelayed = this.options.program.language === 'python';
    const begun = performance.now();
    const clock = new RequestClock(time, isDelayed ? Math.max(time, latest) : time);
    this.clock = clock;
    this.watch(clock);
    const left = (of: number) => Math.max(1, begun + of - performance.now());
    this.running = prepare()
      .then(async (data) => {
        if (data === undefined || this.over) return undefined;
        return this.isolate.enter(data, { time: left(time), latest: left(Math.max(time, latest)) });
      })
      .then(
        (entered) => entered && this.finish(entered.answer, entered.growth),
        (error: unknown) => this.failed(error, clock.left() === 0),
      )
      .finally(() => {
        this.stopWatch();
        this.clock = null;
      });
  }

  /** Ends the session when the time of the clock is over, unless `stopWatch` is called first. */
  private watch(clock: RequestClock): void {
    const check = () => {
      const left = clock.left();
      if (left > 0) {
        this.reportDelay(left);
        this.timer = setTimeout(check, left);
        return;
      }
      this.isLate = true;
      this.reply(timeIsOver);
      this.timer = setTimeout(() => this.fail('time', ''), STACK_TIMEOUT);
    };
    this.stopWatch();
    this.timer = setTimeout(check, Math.max(1, clock.left()));
  }

  private stopWatch(): void {
    clearTimeout(this.timer);
  }

  /**
   * Reports an isolate that has ended unexpectedly, the engine's timeout, or a rejected promise that logic has not awaited.
   * @param isTimeOver by the clock: on a busy machine the engine's timeout can come before the timer that sets `isLate`
   */
  private failed(error: unknown, isTimeOver: boolean): void {
    if (error instanceof RunAgain) this.runAgain();
    else if (this.isolate.native.isDisposed) this.fail('memory', messageOf(error));
    else if (this.isLate || isTimeOver) this.fail('time', stackOf(error));
    else this.fail('broken', thrownText(error));
  }

  /** @param bytes by which the memory of the isolate has grown */
  private finish(data: string, bytes: number): void {
    if (this.over) return;
    if (this.isLate) return this.fail('time', '');
    if (data.length > this.options.messageSize) return this.fail('size', '');
    this.options.send({ type: 'used', session: this.options.id, bytes });
    this.options.send({ type: 'done', session: this.options.id, data });
  }
}

/** The reply to a host call of a session that is over: an isolate that is not waiting any more does not read it. */
function lastReply(): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, LAST_REPLY_DELAY, ''));
}

/** An error that logic has thrown past the prelude, as JSON text of a `WireError`; '' for an error of the runner itself. */
function thrownText(error: unknown): string {
  if (error instanceof Error && !String(error.stack).includes(boundary)) return '';
  const name = error instanceof Error ? String(error.name).slice(0, 100) : 'Error';
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_TEXT.message);
  const text = JSON.stringify({ name, message, stack: stackOf(error) });
  return Buffer.byteLength(text) <= MAX_TEXT.all ? text : JSON.stringify({ name: 'Error', message: '', stack: '' });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack).slice(0, MAX_TEXT.stack) : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 1000) : 'unknown';
}
