import { AppsError } from '../common/errors';
import { packError, type TaskMessage, type WorkerMessage } from './messages';

/** Tasks of a worker process by name. A task receives a copy of the caller's input; its result must be copyable too. */
export type Tasks = Record<string, (input: never) => unknown>;

/** The program of a worker process: runs the received tasks one after the other, until the server is gone. */
export function serveTasks(tasks: Tasks): void {
  const send = (message: WorkerMessage) => process.send?.(message, undefined, undefined, () => undefined);
  process.on('disconnect', () => process.exit(0));
  // Terminals and service managers send these to all processes of a service; the server decides when a worker ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('message', async (message: TaskMessage) => {
    const answer = await perform(tasks, message);
    try {
      send(answer);
    } catch (error) {
      // A value that cannot be copied.
      send(broken(error));
    }
  });
  send({ type: 'ready' });
}

async function perform(tasks: Tasks, { task, input }: TaskMessage): Promise<WorkerMessage> {
  try {
    const work = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
    if (!work) throw new Error(`there is no task "${task}"`);
    const value: unknown = await work(input as never);
    return { type: 'value', value, memory: process.memoryUsage.rss() };
  } catch (error) {
    if (error instanceof AppsError)
      return { type: 'error', error: packError(error), memory: process.memoryUsage.rss() };
    return broken(error);
  }
}

function broken(error: unknown): WorkerMessage {
  return { type: 'broken', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
