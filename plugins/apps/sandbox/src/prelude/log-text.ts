import { describe } from './errors';
import { stringify, text } from './primordials';

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
