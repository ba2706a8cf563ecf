import { type Access, killProcess, startConfined } from '../common/confined-process';
import type { SandboxConfig } from '../config.types';
import { readMessage, type TaskMessage, unpackError, type WorkerMessage } from './messages';
import { processorTime } from './processor-time';

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
export interface Job {
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
  /** The running job. */
  readonly job: Job | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Runs one job; `idle` must be true. */
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
  /** The process is idle again. */
  onIdle(): void;
  /** The process takes no more jobs. */
  onSpent(): void;
}

/** Ratio of clock time to processor time that a task may take, on a busy machine. */
const MAX_STRETCH = 5;

/** Starts a worker process: confined, and ended only by SIGKILL or by itself. */
export function startWorker(options: WorkerProcessOptions): WorkerProcess {
  const { path, memory, sandbox, access, onIdle, onSpent } = options;
  let isStarted = false;
  let isSpent = false;
  let job: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flags = [`--max-old-space-size=${memory}`, '--single-threaded-gc'];
  // `advanced` copies long texts much faster than JSON.
  const channel: Parameters<typeof startConfined>[2] = {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  };
  const child = startConfined({ path, flags, ...access }, sandbox, channel);
  // Does not keep the server alive without a job; the worker ends with the server.
  child.unref();
  child.channel?.unref();

  /** Takes the job away from this process. */
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
    killProcess(child);
    release()?.reject(error);
    if (!wasSpent) onSpent();
  };
  const failToStart = (message: string) => retire(new WorkerUnavailable(message));
  const limit = ({ time, byProcessor }: Job) => {
    clearTimeout(timer);
    const before = byProcessor ? processorTime(child.pid) : undefined;
    const end = performance.now() + time * MAX_STRETCH;
    const over = () => {
      const used = (processorTime(child.pid) ?? 0) - (before ?? 0);
      const left = before === undefined ? 0 : Math.min(time - used, end - performance.now());
      // A few ticks are the error of the measure.
      if (left < 50) return retire(new WorkerFailure('time'));
      timer = setTimeout(over, left);
    };
    timer = setTimeout(over, time);
  };

  const slow = setTimeout(
    () => failToStart(`the worker did not start within ${START_TIMEOUT} ms`),
    START_TIMEOUT,
  ).unref();
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
        // The 'exit' event reports a worker that is gone, the 'error' event one that could not start.
        if (child.pid !== undefined) child.send(next.message, () => undefined);
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
