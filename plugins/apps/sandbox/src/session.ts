import type { Pool } from './pool';
import type { FailureReason, FromRunner, WireProgram } from './protocol';
import type { Language } from './room';
import type { Worker, WorkerEvents } from './worker';

/** Milliseconds that an isolate gets to end once it is disposed of; after that its thread counts as stuck. */
const endTime = 100;

export interface SessionOptions {
  id: number;
  language: Language;
  pool: Pool;
  /** Characters that an answer or the arguments of host calls may have. */
  messageSize: number;
  /** Resident memory of the process, in bytes, before the session. */
  memoryBefore: number;
  send(message: FromRunner): void;
  /** The session no longer exists. */
  ended(): void;
}

/** One session in one worker: passes text between the server and the sandbox and holds the clock against it. */
export class Session implements WorkerEvents {
  /** Whether other sessions were in the process meanwhile: what its memory has grown by is not this one's alone then. */
  shared = false;
  private readonly worker: Worker;
  private running: Promise<unknown> = Promise.resolve();
  private pending: ((reply: string) => void) | null = null;
  private over = false;
  private readonly timeBefore: number;

  constructor(private readonly options: SessionOptions) {
    this.worker = options.pool.take(options.language);
    this.worker.events = this;
    this.timeBefore = this.isolateTime();
  }

  /** Milliseconds of processor time that the isolate has used since the session began; sessions before do not count. */
  get processorTime(): number {
    return this.isolateTime() - this.timeBefore;
  }

  /** Bytes of resident memory that the process had before the session. */
  get memoryBefore(): number {
    return this.options.memoryBefore;
  }

  private isolateTime(): number {
    return Number(this.worker.isolate.isDisposed ? 0n : this.worker.isolate.cpuTime) / 1e6;
  }

  open(program: WireProgram, data: string, remaining: number): void {
    this.run(remaining, async () => {
      try {
        await this.worker.load(program);
      } catch (error) {
        this.fail(this.worker.isolate.isDisposed ? 'memory' : 'program', messageOf(error));
        return undefined;
      }
      return this.worker.enter(data);
    });
  }

  call(data: string, remaining: number): void {
    this.run(remaining, () => this.worker.enter(data));
  }

  reply(data: string): void {
    this.pending?.(data);
    this.pending = null;
  }

  /** A host call of the sandbox. Never rejects: errors of the host are part of the reply. */
  host(data: unknown): Promise<string> {
    if (typeof data !== 'string') this.fail('broken', '');
    else if (data.length > this.options.messageSize) this.fail('size', '');
    if (this.over) return Promise.resolve('');
    this.options.send({ type: 'host', session: this.options.id, data: data as string });
    return new Promise((resolve) => {
      this.pending = resolve;
    });
  }

  catastrophe(): void {
    this.fail('memory', '');
    this.options.send({ type: 'sick' });
  }

  /** Frees the context of a session at rest. */
  close(): void {
    if (this.over) return;
    this.over = true;
    this.options.ended();
    this.options.pool.release(this.worker);
  }

  /** Ends the session now, in whatever state it is, and says why. */
  fail(reason: FailureReason, message: string): void {
    if (this.over) return;
    this.options.send({ type: 'failed', session: this.options.id, reason, message });
    this.stop();
  }

  /** Ends the session now, in whatever state it is. */
  stop(): void {
    if (this.over) return;
    this.over = true;
    this.options.ended();
    this.reply('');
    this.options.pool.discard(this.worker);
    const stuck = setTimeout(() => this.options.send({ type: 'sick' }), endTime);
    void this.running.finally(() => clearTimeout(stuck));
  }

  private run(remaining: number, operation: () => Promise<string | undefined>): void {
    const timer = setTimeout(() => this.fail('time', ''), Math.max(1, remaining));
    this.running = operation()
      .then(
        (data) => this.finish(data),
        (error: unknown) => this.fail(this.worker.isolate.isDisposed ? 'memory' : 'broken', messageOf(error)),
      )
      .finally(() => clearTimeout(timer));
  }

  private finish(data: string | undefined): void {
    if (this.over || data === undefined) return;
    if (data.length > this.options.messageSize) return this.fail('size', '');
    this.options.send({ type: 'done', session: this.options.id, data });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 1000) : 'unknown';
}
