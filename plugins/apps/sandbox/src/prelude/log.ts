import type { LogLevel, PreludeLimits } from '../../../shared/logic-protocol';
import { describe, stackHere } from './errors';
import { slice, stringify, text } from './primordials';
import type { Records } from './records/records';

/** The log of one session, to which `app.log` and `console` write. */
export interface Log {
  /** Writes one entry, cut to the limit; without a level it is one of `app.log`. */
  write(level: LogLevel | undefined, message: string): void;
  /** The entries so far. */
  messages(): string[];
}

export function createLog(call: Records['call'], limits: () => PreludeLimits): Log {
  const logged: string[] = [];
  return {
    write(level, message) {
      const entry = slice(message, 0, limits().logEntrySize);
      call('log', { ...(level !== undefined && { level }), message: entry, stack: stackHere() });
      logged[logged.length] = entry;
    },
    messages: () => [...logged],
  };
}

/** A logged value as text: texts unchanged, errors by name and message, other objects as JSON. */
export function logText(message: unknown): string {
  if (typeof message === 'string') return message;
  try {
    if (message instanceof Error) return errorLine(message);
    return typeof message === 'object' ? stringify(message) : text(message);
  } catch {
    return 'a value that cannot be shown';
  }
}

function errorLine(error: Error): string {
  const { name, message } = describe(error);
  return message === '' ? name : `${name}: ${message}`;
}
