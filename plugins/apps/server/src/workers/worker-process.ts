import type { SandboxConfig } from '../config.types';
import { type Access, startConfined } from '../confined-process';
import { readMessage, type TaskMessage, unpackError, type WorkerMessage } from './messages';
import { processorTime } from './processor-time';

/** Milliseconds that a worker process may take to start. */
const startTime = 15_000;

/**
 * Why a task has no outcome: it was over its time, or its process ended by itself, as V8 does when it has no memory left.
 * The caller turns it into an error of its own.
 */
export class WorkerFailure extends Error {
  constructor(readonly reason: 'time' | 'ended') {
    super(reason === 'time' ? 'The task was over its time' : 'The process of the task ended');
  }
}

/** The process could not be started; `message` is for the log. */
export class WorkerUnavailable extends Error {}

/** A task on its way to a worker process. */
export interface Job {
  message: TaskMessage;
  /** Milliseconds from when a worker starts on it. */
  time: number;
  /** The time is the processor's; by the clock it may be `mostStretch` times as long. */
  byProcessor?: boolean;
  /** Of jobs of one group, one is done at a time. */
  group: string | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A worker process as the server sees it. */
export interface WorkerProcess {
  readonly started: boolean;
  readonly idle: boolean;
  /** What it is at. */
  readonly job: Job | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Does one job; `idle` must be true. */
  start(job: Job): void;
  /** Ends the process; its job, if it has one, is rejected with `error`. */
  kill(error?: unknown): void;
}

export interface WorkerProcessOptions {
  /** The built worker program. */
  path: string;
  /** Megabytes of V8's old space. */
  memory: number;
  sandbox: SandboxConfig;
  access: Access;
  /** It is idle again and can do another job. */
  onIdle(): void;
  /** It takes no jobs any more. */
  onSpent(): void;
}

/** How much longer than its time of the processor a task may take by the clock, on a machine that is busy with others. */
const mostStretch = 5;

/** Starts a worker process: confined, and ended only by SIGKILL or by itself. */
export function startWorker(options: WorkerProcessOptions): WorkerProcess {
  const { path, memory, sandbox, access, onIdle, onSpent } = options;
  let isStarted = false;
  let isSpent = false;
  let job: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flags = [`--max-old-space-size=${memory}`, '--single-threaded-gc'];
  // `advanced` copies long texts many times faster than JSON.
  const channel: Parameters<typeof startConfined>[2] = {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  };
  const child = startConfined({ path, flags, ...access }, sandbox, channel);
  // A server that waits for no job may end without asking: the worker then ends by itself.
  child.unref();
  child.channel?.unref();

  /** Gives the job back, which is then no longer this process's. */
  const release = (): Job | undefined => {
    clearTimeout(timer);
    child.channel?.unref();
    const released = job;
    job = undefined;
    return released;
  };
  const retire = (error: unknown) => {
    const wasSpent = isSpent;
    isSpent = true;
    child.kill('SIGKILL');
    release()?.reject(error);
    if (!wasSpent) onSpent();
  };
  const failToStart = (message: string) => retire(new WorkerUnavailable(message));
  const limit = ({ time, byProcessor }: Job) => {
    clearTimeout(timer);
    const before = byProcessor ? processorTime(child.pid) : undefined;
    const end = performance.now() + time * mostStretch;
    const over = () => {
      const used = (processorTime(child.pid) ?? 0) - (before ?? 0);
      const left = before === undefined ? 0 : Math.min(time - used, end - performance.now());
      // Less than a few ticks is no more time than the measure is wrong by.
      if (left < 50) return retire(new WorkerFailure('time'));
      timer = setTimeout(over, left);
    };
    timer = setTimeout(over, time);
  };

  const slow = setTimeout(() => failToStart(`the worker did not start within ${startTime} ms`), startTime).unref();
  const ended = new Promise<void>((resolve) => {
    const gone = (error: unknown) => {
      clearTimeout(slow);
      retire(error);
      resolve();
    };
    child.once('error', (error) => gone(new WorkerUnavailable(error.message)));
    child.once('exit', (code, signal) =>
      gone(isStarted ? new WorkerFailure('ended') : new WorkerUnavailable(`the worker ended with ${signal ?? code}`)),
    );
  });

  const settle = (answer: Exclude<WorkerMessage, { type: 'ready' }>) => {
    const { resolve, reject } = release() as Job;
    if (answer.type === 'value') resolve(answer.value);
    else reject(answer.type === 'error' ? unpackError(answer.error) : new Error(`A worker failed: ${answer.message}`));
    if (answer.type !== 'broken' && !answer.spent) return onIdle();
    retire(undefined);
  };
  child.on('message', (message) => {
    const answer = readMessage(message);
    if (isSpent) return;
    if (answer?.type === 'ready' && !isStarted) {
      isStarted = true;
      clearTimeout(slow);
      if (job) limit(job);
    } else if (answer && answer.type !== 'ready' && isStarted && job) settle(answer);
    else retire(new Error('A worker sent a message that is none'));
  });

  return {
    ended,
    get started() {
      return isStarted;
    },
    get idle() {
      return !isSpent && !job;
    },
    get job() {
      return job;
    },
    start(next) {
      try {
        // A worker that is gone says so by its 'exit' event.
        child.send(next.message, () => undefined);
      } catch (error) {
        return next.reject(error);
      }
      job = next;
      child.channel?.ref();
      if (isStarted) limit(next);
    },
    kill: retire,
  };
}
