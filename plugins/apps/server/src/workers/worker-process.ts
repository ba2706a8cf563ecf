import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { killProcess, type ProcessAccess, startConfined } from '../common/confined-process';
import type { SandboxConfig } from '../config.types';
import { readMessage, type TaskMessage, unpackError, type WorkerMessage } from './messages';

/** Milliseconds of a tick, Linux's unit for the processor time of processes. */
const tick = 10;

/**
 * Processor time of a process in milliseconds, in steps of 10; undefined without `/proc` of Linux, or when the process is
 * gone.
 */
function processorTime(pid: number | undefined): number | undefined {
  try {
    // The program's name, in parentheses, may contain spaces: fields count from behind it.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [Number(fields[11]), Number(fields[12])];
    return Number.isFinite(user + system) ? (user + system) * tick : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds that a worker process may take to start. */
const START_TIMEOUT = 15_000;

/**
 * Why a task has no outcome: it exceeded its time, or its process ended by itself, as V8 does without memory. Callers
 * translate it into their own error.
 */
export class WorkerFailure extends Error {
  constructor(readonly reason: 'time' | 'ended') {
    super(reason === 'time' ? 'The task was over its time' : 'The process of the task ended');
  }
}

/** The process could not be started; `message` is for the log. */
export class WorkerUnavailable extends Error {}

/** A task for a worker process. */
export interface WorkerTask {
  message: TaskMessage;
  /** Milliseconds from when a worker starts on it. */
  time: number;
  /** The time is processor time; by the clock it may be `MAX_STRETCH` times as long. */
  byProcessor?: boolean;
  /** Jobs of one group run one at a time. */
  group: string | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A worker process as the server sees it. */
export interface WorkerProcess {
  readonly started: boolean;
  readonly idle: boolean;
  /** Jobs that it has done. */
  readonly done: number;
  /** The running job. */
  readonly job: WorkerTask | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Runs one job; `idle` must be true. */
  start(job: WorkerTask): void;
  /** Ends the process; its job, if it has one, is rejected with `error`. */
  kill(error?: unknown): void;
}

interface WorkerProcessOptions {
  /** The built worker program. */
  path: string;
  /** Megabytes of V8's old space. */
  memory: number;
  /** Megabytes of resident memory above which the process is replaced after a job. */
  idleMemory: number;
  sandbox: SandboxConfig;
  access: ProcessAccess;
  /** The process is idle again. */
  onIdle(): void;
  /** The process takes no more jobs. */
  onSpent(): void;
}

const MEGABYTE = 1024 ** 2;

/** Ratio of clock time to processor time that a task may take, on a busy machine. */
const MAX_STRETCH = 5;

/** Starts a worker process: confined, and ended only by SIGKILL or by itself. */
export const startWorker = (options: WorkerProcessOptions): WorkerProcess => new ConfinedWorker(options);

class ConfinedWorker implements WorkerProcess {
  readonly ended: Promise<void>;
  started = false;
  done = 0;
  job: WorkerTask | undefined;
  private readonly child: ChildProcess;
  private isSpent = false;
  /** Ends the process when its job is not done in time. */
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkerProcessOptions) {
    const { path, memory, sandbox, access } = options;
    const flags = [`--max-old-space-size=${memory}`, '--single-threaded-gc'];
    this.child = startConfined({ path, flags, ...access }, sandbox, {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Copies long texts much faster than JSON.
      serialization: 'advanced',
    });
    // Does not keep the server alive without a job; the worker ends with the server.
    this.child.unref();
    this.child.channel?.unref();
    this.ended = this.watchStart();
    this.child.on('message', (message) => this.receive(message));
  }

  get idle(): boolean {
    return !this.isSpent && !this.job;
  }

  start(next: WorkerTask): void {
    try {
      // The 'exit' event reports a worker that is gone, the 'error' event one that could not start.
      if (this.child.pid !== undefined) this.child.send(next.message, () => undefined);
    } catch (error) {
      return next.reject(error);
    }
    this.job = next;
    this.child.channel?.ref();
    if (this.started) this.limit(next);
  }

  kill(error?: unknown): void {
    const wasSpent = this.isSpent;
    this.isSpent = true;
    killProcess(this.child);
    this.release()?.reject(error);
    if (!wasSpent) this.options.onSpent();
  }

  /** Resolves when the process has ended. */
  private watchStart(): Promise<void> {
    const late = `the worker did not start within ${START_TIMEOUT} ms`;
    const slow = setTimeout(() => this.started || this.kill(new WorkerUnavailable(late)), START_TIMEOUT).unref();
    return new Promise((resolve) => {
      const gone = (error: unknown) => {
        clearTimeout(slow);
        this.kill(error);
        resolve();
      };
      this.child.once('error', (error) => gone(new WorkerUnavailable(error.message)));
      this.child.once('exit', (code, signal) =>
        gone(
          this.started ? new WorkerFailure('ended') : new WorkerUnavailable(`the worker ended with ${signal ?? code}`),
        ),
      );
    });
  }

  /** Takes the job away from this process. */
  private release(): WorkerTask | undefined {
    clearTimeout(this.timer);
    this.child.channel?.unref();
    const { job } = this;
    this.job = undefined;
    return job;
  }

  /** Ends the process when the job takes longer than it may. */
  private limit({ time, byProcessor }: WorkerTask): void {
    clearTimeout(this.timer);
    const { pid } = this.child;
    const before = byProcessor ? processorTime(pid) : undefined;
    const end = performance.now() + time * MAX_STRETCH;
    const over = () => {
      const used = (processorTime(pid) ?? 0) - (before ?? 0);
      const left = before === undefined ? 0 : Math.min(time - used, end - performance.now());
      // A few ticks are the error of the measure.
      if (left < 50) return this.kill(new WorkerFailure('time'));
      this.timer = setTimeout(over, left);
    };
    this.timer = setTimeout(over, time);
  }

  private receive(message: unknown): void {
    const answer = readMessage(message);
    if (this.isSpent) return;
    if (answer?.type === 'ready' && !this.started) {
      this.started = true;
      if (this.job) this.limit(this.job);
    } else if (answer && answer.type !== 'ready' && this.started && this.job) this.settle(answer);
    else this.kill(new Error('A worker sent a message that is none'));
  }

  private settle(answer: Exclude<WorkerMessage, { type: 'ready' }>): void {
    const { resolve, reject } = this.release() as WorkerTask;
    this.done += 1;
    if (answer.type === 'value') resolve(answer.value);
    else reject(answer.type === 'error' ? unpackError(answer.error) : new Error(`A worker failed: ${answer.message}`));
    if (answer.type !== 'broken' && answer.memory <= this.options.idleMemory * MEGABYTE) return this.options.onIdle();
    this.kill();
  }
}
