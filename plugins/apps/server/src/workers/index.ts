import type { SandboxConfig } from '../config.types';
import type { Access } from '../confined-process';
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
  /** Tasks that may wait for a process, half of them of one group. Default 200. */
  queue?: number;
  /** How the processes are started. Default: without a command. */
  sandbox?: SandboxConfig;
  /** What the processes may do besides running their program. Default: load the packages of the plugin's own tasks. */
  access?: Access;
  logger: { error(message: string): void };
}

export interface RunOptions {
  /** Milliseconds that the task may take, counted from when a worker starts on it. */
  time: number;
  /**
   * Where the system tells it, the time is that of the processor, so that a machine that is busy with other things refuses
   * nothing that another one does; by the clock it may take five times as long.
   */
  byProcessor?: boolean;
  /** Ends the task, also while it waits; `run` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Of the tasks of one group, one is done at a time: who floods a group takes one process from the others. */
  group?: string;
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

/** Packages that the tasks of worker.ts load. */
const packages = ['acorn', 'css-select', 'js-yaml', 'liquidjs', 'parse5', 'sucrase'];

const unavailable = (message: string) =>
  new AppsError('ServiceUnavailableError', message, { headers: { 'Retry-After': '1' } });

/** A group of worker processes, each doing one task at a time; nothing is started before the first `run` or `warm`. */
export function createWorkers(options: WorkersOptions): Workers {
  const { path, count, memory, queue = defaultQueue, logger } = options;
  const { sandbox = { command: [] }, access = { packages } } = options;
  const workers = new Set<WorkerProcess>();
  const ending = new Set<Promise<void>>();
  const waiting: Job[] = [];
  let destroyed = false;
  let lastReport = '';

  const start = (): WorkerProcess => {
    const worker = startWorker({
      path,
      memory,
      sandbox,
      access,
      onIdle: () => rest(worker),
      onSpent: () => replace(worker),
    });
    workers.add(worker);
    return worker;
  };
  const idle = () => [...workers].filter((worker) => worker.idle);

  const isAtWork = (group: string | undefined) =>
    group !== undefined && [...workers].some(({ job }) => job?.group === group);
  const isFull = (group: string | undefined) =>
    waiting.length >= queue ||
    (group !== undefined && waiting.filter((job) => job.group === group).length >= queue / 2);

  /** Gives waiting jobs to processes. */
  const distribute = () => {
    for (let index = 0; index < waiting.length; ) {
      if (isAtWork(waiting[index].group)) {
        index += 1;
        continue;
      }
      const worker = idle()[0] ?? (workers.size < count ? start() : undefined);
      if (!worker) return;
      worker.start(waiting.splice(index, 1)[0]);
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
    async run(task, input, { time, byProcessor, signal, group }) {
      signal?.throwIfAborted();
      if (destroyed || isFull(group)) throw unavailable('The server is busy.');
      let onAbort = () => {};
      try {
        return await new Promise((resolve, reject) => {
          const job: Job = { message: { task, input }, time, byProcessor, group, resolve, reject };
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
