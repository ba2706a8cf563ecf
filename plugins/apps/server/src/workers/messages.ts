import { AppsError, type ErrorName, errorStatuses, type SourcePosition } from '../common/errors';

/** A message of the server to a worker process: one task at a time. */
export interface TaskMessage {
  task: string;
  input: unknown;
}

/** An AppsError in a message between processes. */
export interface SentError {
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
export function packError({ name, message, position }: AppsError): SentError {
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
