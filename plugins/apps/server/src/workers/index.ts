import type { ProcessAccess } from '../common/confined-process';
import { unavailable } from '../common/errors';
import { RequestSet } from '../common/request-objects';
import type { SandboxConfig } from '../config.types';
import { startWorker, WorkerFailure, type WorkerProcess, type WorkerTask, WorkerUnavailable } from './worker-process';

/** A semaphore with a queue. */
export interface Semaphore {
  /** Whether no permit is held. */
  readonly idle: boolean;
  /** How many hold a permit, and how many wait for one. */
  readonly load: { held: number; waiting: number };
  /**
   * Resolves to a function that releases the permit. Rejects with the error of `busy` when the queue is full or the timeout
   * is over first, and with the signal's reason when that is aborted first.
   * @param user who is to have no more than a share of the permits  @param timeout milliseconds
   */
  acquire(user: string, timeout: number | undefined, signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` with a permit; rejects as `acquire` does. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Options {
  permits: number;
  /** How many may wait; default: any number. */
  queue?: number;
  /** Milliseconds that a work of `run` may wait; default: any time. */
  timeout?: number;
  /** How many of all permits, or of the queue, one user may have; default: all. */
  share?: (all: number) => number;
  busy?: () => Error;
  /** Called with the milliseconds that one has waited for its permit, or in vain. */
  waited?: (time: number) => void;
}

interface Waiter {
  user: string;
  grant(): void;
}

/** Waiters get a permit in order of arrival, those above their share later. */
export function createSemaphore({
  permits,
  queue = Number.POSITIVE_INFINITY,
  timeout: usual,
  share = (all) => all,
  busy = () => unavailable('The server is busy, try again soon', 1),
  waited = () => {},
}: Options): Semaphore {
  const waiting = new RequestSet<Waiter>();
  const held = new Map<string, number>();
  let free = permits;
  const mayHave = (user: string) => free > 0 && (held.get(user) ?? 0) < share(permits);
  const isFull = (user: string) =>
    waiting.size >= queue || waiting.values().filter((waiter) => waiter.user === user).length >= share(queue);

  function grant(user: string): () => void {
    free -= 1;
    held.set(user, (held.get(user) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      free += 1;
      const others = (held.get(user) ?? 0) - 1;
      if (others > 0) held.set(user, others);
      else held.delete(user);
      waiting.find((waiter) => mayHave(waiter.user))?.grant();
    };
  }

  const acquire: Semaphore['acquire'] = async (user, timeout, signal) => {
    signal?.throwIfAborted();
    if (mayHave(user)) return grant(user);
    if (isFull(user)) throw busy();
    const begun = performance.now();
    return new Promise((resolve, reject) => {
      const leave = () => {
        waited(performance.now() - begun);
        waiting.delete(entry);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const refuse = (error: unknown) => {
        leave();
        reject(error);
      };
      const abort = () => refuse(signal?.reason);
      const waiter: Waiter = {
        user,
        grant() {
          leave();
          resolve(grant(user));
        },
      };
      const timer = timeout === undefined ? undefined : setTimeout(() => refuse(busy()), timeout);
      signal?.addEventListener('abort', abort, { once: true });
      const entry = waiting.add(waiter);
    });
  };

  return {
    get idle() {
      return free === permits;
    },
    get load() {
      return { held: permits - free, waiting: waiting.size };
    },
    acquire,
    async run(work, signal) {
      signal?.throwIfAborted();
      const release = mayHave('') ? grant('') : await acquire('', usual, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

export { WorkerFailure };

export interface WorkersOptions {
  /** Absolute path of the built worker program (`dist/server/worker.js`). */
  path: string;
  /** Maximal number of processes; each is started when it is needed. */
  count: number;
  /** Megabytes of V8's old space for each process; beyond it V8 ends the process. */
  memory: number;
  /** Tasks that may wait for a process, half of them of one group. Default 200. */
  queue?: number;
  /** Processes that stay while there are no tasks. Default 1. */
  kept?: number;
  /** Milliseconds after which the other processes without a task are ended. Default 10,000. */
  idleTime?: number;
  /** Megabytes of resident memory above which a process is replaced after its task. Default 160. */
  idleMemory?: number;
  /** How the processes are started. Default: without a command. */
  sandbox?: SandboxConfig;
  /** What the processes may do besides running their program. Default: load the packages of the plugin's own tasks. */
  access?: ProcessAccess;
  logger: { error(message: string): void };
}

interface TaskOptions {
  /** Milliseconds that the task may take, counted from when a worker starts on it. */
  time: number;
  /**
   * Where the system reports it, processor time counts, so that a busy machine refuses no task that an idle one does; by
   * the clock the task may take five times as long.
   */
  byProcessor?: boolean;
  /** Ends the task, also while it waits; `run` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Tasks of one group run one at a time: a flooded group occupies one process. */
  group?: string;
}

/** Processes for work of unbounded cost: each task ends at its deadline, if necessary with its process. */
export interface Workers {
  /**
   * Runs a task of the table in worker.ts in another process; input and output are copied by structured clone. Rejects
   * with the AppsError that the task has thrown, with WorkerFailure when it exceeded its time or ended its process, with
   * ServiceUnavailableError when too many tasks wait or no process can be started.
   */
  run(task: string, input: unknown, options: TaskOptions): Promise<unknown>;
  /** Starts a process, so that the first task does not wait for it; returns at once. */
  warm(): void;
  /** Ends the processes; their tasks are rejected with ServiceUnavailableError. */
  destroy(): Promise<void>;
}

const defaults = { queue: 200, kept: 1, idleTime: 10_000, idleMemory: 160 };

/** Packages that the tasks of worker.ts load: with Node's permission model a process can read no others. */
export const packages = [
  'acorn',
  'css-select',
  'liquidjs',
  'lru-cache',
  'markdown-it',
  'parse5',
  'sanitize-html',
  'sucrase',
];

/** A group of worker processes, each running one task at a time; the first `run` or `warm` starts the first process. */
export function createWorkers(options: WorkersOptions): Workers {
  const { path, count, memory, queue, kept, idleTime, idleMemory, logger } = { ...defaults, ...options };
  const { sandbox = { command: [] }, access = { packages } } = options;
  const workers = new Set<WorkerProcess>();
  const ending = new Set<Promise<void>>();
  const waiting: WorkerTask[] = [];
  let destroyed = false;
  let lastReport = '';

  const start = (): WorkerProcess => {
    const worker = startWorker({
      path,
      memory,
      idleMemory,
      sandbox,
      access,
      onIdle: () => endWhenIdle(worker),
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

  const distribute = () => {
    let index = 0;
    for (let job = waiting[index]; job; job = waiting[index]) {
      if (isAtWork(job.group)) {
        index += 1;
        continue;
      }
      const worker = idle()[0] ?? (workers.size < count ? start() : undefined);
      if (!worker) return;
      waiting.splice(index, 1);
      worker.start(job);
    }
  };
  const endWhenIdle = (worker: WorkerProcess) => {
    distribute();
    if (!worker.idle || idle().length <= kept) return;
    const since = worker.done;
    const end = () => idle().length > kept && worker.idle && worker.done === since && worker.kill();
    setTimeout(end, idleTime).unref();
  };
  /** Replaces a process at once if it had started, so that the next task does not wait for the start. */
  const replace = (worker: WorkerProcess) => {
    workers.delete(worker);
    const end = worker.ended.finally(() => ending.delete(end));
    ending.add(end);
    if (destroyed) return;
    distribute();
    if (worker.started && workers.size < kept) start();
  };
  const report = (error: unknown): unknown => {
    if (!(error instanceof WorkerUnavailable)) return error;
    if (lastReport !== error.message) logger.error(`apps: a worker process is not available: ${error.message}`);
    lastReport = error.message;
    return unavailable('A process of the server is not available.', 1);
  };

  const abort = (job: WorkerTask, reason: unknown) => {
    const index = waiting.indexOf(job);
    if (index >= 0) {
      waiting.splice(index, 1);
      job.reject(reason);
    } else [...workers].find((worker) => worker.job === job)?.kill(reason);
  };

  return {
    async run(task, input, { time, byProcessor, signal, group }) {
      signal?.throwIfAborted();
      if (destroyed || isFull(group)) throw unavailable('The server is busy.', 1);
      let onAbort = () => {};
      try {
        return await new Promise((resolve, reject) => {
          const job: WorkerTask = { message: { task, input }, time, byProcessor, group, resolve, reject };
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
      const error = unavailable('The server is stopping.', 1);
      for (const job of waiting.splice(0)) job.reject(error);
      for (const worker of workers) worker.kill(error);
      await Promise.all(ending);
    },
  };
}
