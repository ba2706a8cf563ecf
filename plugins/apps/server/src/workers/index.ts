import { AppsError } from '../errors';
import { type Job, startWorker, WorkerFailure, type WorkerProcess, WorkerUnavailable } from './worker-process';

export { WorkerFailure };

export interface WorkersOptions {
  /** Absolute path of the built worker program (`dist/server/worker.js`). */
  path: string;
  /** Processes at most; they are started when they are needed. */
  count: number;
  /** Megabytes of V8's old space for each process; beyond it V8 ends the process. */
  memory: number;
  /** Tasks that may wait for a process. Default 200. */
  queue?: number;
  logger: { error(message: string): void };
}

export interface RunOptions {
  /** Milliseconds that the task may take, counted from when a worker starts on it. */
  time: number;
  /** Ends the task, also while it waits; `run` then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Processes for work whose cost is not bounded: each task ends at its deadline, with its process if need be. */
export interface Workers {
  /**
   * Does a task of the table in worker.ts in a process of its own; input and output are copied by structured clone.
   * Rejects with the AppsError that the task has thrown, with WorkerFailure when it was over its time or ended its
   * process, with ServiceUnavailableError when too many tasks wait or no process can be started.
   */
  run(task: string, input: unknown, options: RunOptions): Promise<unknown>;
  /** Starts a process, so that the first task need not wait for it; returns at once. */
  warm(): void;
  /** Ends the processes; what they were at is rejected with ServiceUnavailableError. */
  destroy(): Promise<void>;
}

/** Milliseconds after which processes without work are ended, all but one. */
const idleTime = 10_000;

const defaultQueue = 200;

const unavailable = (message: string) =>
  new AppsError('ServiceUnavailableError', message, { headers: { 'Retry-After': '1' } });

/** A group of worker processes, each doing one task at a time; nothing is started before the first `run` or `warm`. */
export function createWorkers({ path, count, memory, queue = defaultQueue, logger }: WorkersOptions): Workers {
  const workers = new Set<WorkerProcess>();
  const ending = new Set<Promise<void>>();
  const waiting: Job[] = [];
  let destroyed = false;
  let lastReport = '';

  const start = (): WorkerProcess => {
    const worker = startWorker({ path, memory, onIdle: () => rest(worker), onSpent: () => replace(worker) });
    workers.add(worker);
    return worker;
  };
  const idle = () => [...workers].filter((worker) => worker.idle);

  /** Gives waiting jobs to processes. */
  const distribute = () => {
    while (waiting.length > 0) {
      const worker = idle()[0] ?? (workers.size < count ? start() : undefined);
      if (!worker) return;
      worker.start(waiting.shift() as Job);
    }
  };
  const rest = (worker: WorkerProcess) => {
    distribute();
    if (!worker.idle || idle().length === 1) return;
    setTimeout(() => idle().length > 1 && worker.idle && worker.kill(), idleTime).unref();
  };
  /** One that did work is replaced at once, so that the next task need not wait for the start. */
  const replace = (worker: WorkerProcess) => {
    workers.delete(worker);
    const end = worker.ended.finally(() => ending.delete(end));
    ending.add(end);
    if (destroyed) return;
    distribute();
    if (worker.started && workers.size === 0) start();
  };
  const report = (error: unknown): unknown => {
    if (!(error instanceof WorkerUnavailable)) return error;
    if (lastReport !== error.message) logger.error(`apps: a worker process is not available: ${error.message}`);
    lastReport = error.message;
    return unavailable('A process of the server is not available.');
  };

  const abort = (job: Job, reason: unknown) => {
    const index = waiting.indexOf(job);
    if (index >= 0) {
      waiting.splice(index, 1);
      job.reject(reason);
    } else [...workers].find((worker) => worker.job === job)?.kill(reason);
  };

  return {
    async run(task, input, { time, signal }) {
      signal?.throwIfAborted();
      if (destroyed || waiting.length >= queue) throw unavailable('The server is busy.');
      let onAbort = () => {};
      try {
        return await new Promise((resolve, reject) => {
          const job: Job = { message: { task, input }, time, resolve, reject };
          onAbort = () => abort(job, signal?.reason);
          signal?.addEventListener('abort', onAbort, { once: true });
          waiting.push(job);
          distribute();
        });
      } catch (error) {
        throw report(error);
      } finally {
        signal?.removeEventListener('abort', onAbort);
      }
    },
    warm() {
      if (!destroyed && workers.size === 0) start();
    },
    async destroy() {
      destroyed = true;
      const error = unavailable('The server is stopping.');
      for (const job of waiting.splice(0)) job.reject(error);
      for (const worker of workers) worker.kill(error);
      await Promise.all(ending);
    },
  };
}
