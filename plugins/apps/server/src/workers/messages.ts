import { AppsError, type ErrorName, errorStatuses, type SourcePosition } from '../common/errors';

/** A message of the server to a worker process: one task at a time. */
export interface TaskMessage {
  task: string;
  input: unknown;
}

/** An AppsError in a message between processes. */
interface SentError {
  name: ErrorName;
  message: string;
  position?: SourcePosition;
}

/**
 * A message of a worker process: it has started, or its task ended with a value, with an AppsError, or with another
 * error, whose text is for the log. `memory`: bytes of the process' resident memory.
 */
export type WorkerMessage =
  | { type: 'ready' }
  | { type: 'value'; value: unknown; memory: number }
  | { type: 'error'; error: SentError; memory: number }
  | { type: 'broken'; message: string };

/** The error without its details and headers, which no task sets. */
function packError({ name, message, position }: AppsError): SentError {
  return position ? { name, message, position } : { name, message };
}

export function unpackError({ name, message, position }: SentError): AppsError {
  return new AppsError(name, message, { position });
}

/** Parses a message of a worker process; undefined when it is not one. */
export function readMessage(message: unknown): WorkerMessage | undefined {
  if (!isObject(message)) return undefined;
  const { type } = message;
  if (type === 'ready') return { type };
  if (type === 'broken') return typeof message.message === 'string' ? { type, message: message.message } : undefined;
  const { memory } = message;
  if (typeof memory !== 'number') return undefined;
  if (type === 'value') return { type, value: message.value, memory };
  const error = type === 'error' ? readError(message.error) : undefined;
  return error && { type: 'error', error, memory };
}

function readError(error: unknown): SentError | undefined {
  if (!isObject(error)) return undefined;
  const { name, message } = error;
  if (typeof name !== 'string' || !Object.hasOwn(errorStatuses, name) || typeof message !== 'string') return undefined;
  const position = readPosition(error.position);
  return position === undefined
    ? undefined
    : { name: name as ErrorName, message, ...(position === null ? {} : { position }) };
}

/** Null for a missing position, undefined for an invalid one. */
function readPosition(position: unknown): SourcePosition | null | undefined {
  if (position === undefined) return null;
  if (!isObject(position) || typeof position.file !== 'string') return undefined;
  const { file, line, column } = position;
  const isCount = (value: unknown) => value === undefined || typeof value === 'number';
  return isCount(line) && isCount(column) ? ({ file, line, column } as SourcePosition) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Tasks of a worker process by name. A task receives a copy of the caller's input; its result must be copyable too. */
type Tasks = Record<string, (input: never) => unknown>;

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
