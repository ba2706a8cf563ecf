import { type Items, isItems } from '../../../../shared/json';
import type { CallValue, HostCalls, OpenValue, WireError } from '../../../../shared/logic-protocol';
import { isLookedName, maxLooked } from '../../../../shared/looked';

/**
 * Readers of messages from a sandbox. The prelude builds them, but beside code that may change every built-in: so
 * everything is checked. Undefined: the value is invalid.
 */
export type MessageReader<Value> = (value: unknown) => Value | undefined;

export function readJson(text: string): unknown {
  if (isDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Depth of nested brackets: JSON.stringify cannot write deeper values on every Node.js. */
const MAX_DEPTH = 1000;

/** Whether brackets outside of strings are nested too deeply. */
export function isDeep(text: string): boolean {
  if (!hasManyBrackets(text)) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) inString = !inString;
    else if (inString) {
      if (unit === 0x5c) index += 1;
    } else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
  }
  return false;
}

/** Whether there are enough brackets for such a depth. Much faster than a loop over all characters. */
function hasManyBrackets(text: string): boolean {
  let found = 0;
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      found += 1;
      if (found > MAX_DEPTH) return true;
    }
  return false;
}

/** An answer's value or its error, and the names of what logic has looked at. */
export function readAnswer<Value>(
  text: string,
  read: MessageReader<Value>,
): (({ value: Value } | { error: WireError }) & { looked: string[] }) | undefined {
  const answer = readJson(text);
  if (!isItems(answer)) return undefined;
  const looked = readLooked(answer.looked);
  if (!looked) return undefined;
  const error = readError(answer.error);
  if (error) return { error, looked };
  const value = read(answer.value);
  return value === undefined ? undefined : { value, looked };
}

/** Names of one answer; none where the answer has none. */
function readLooked(value: unknown): string[] | undefined {
  if (value === undefined) return [];
  // One more: `everything`.
  const fits = Array.isArray(value) && value.length <= maxLooked.names + 1;
  return fits && value.every((name) => typeof name === 'string' && isLookedName(name))
    ? (value as string[])
    : undefined;
}

/** The program's functions, and the outcomes of the `count` calls that came with `open`. */
export function readOpen(count: number): MessageReader<OpenValue> {
  return (value) => {
    if (!isItems(value)) return undefined;
    const { functions } = value;
    const outcomes = readCalls(count)(value.outcomes);
    if (!outcomes || !Array.isArray(functions) || !functions.every((name) => typeof name === 'string'))
      return undefined;
    return { functions: functions as string[], outcomes };
  };
}

/** The outcomes of `count` calls. */
export function readCalls(count: number): MessageReader<CallValue> {
  return (value) => {
    if (!Array.isArray(value) || value.length !== count) return undefined;
    const outcomes = value.map((outcome) => {
      if (!isItems(outcome)) return undefined;
      const error = readError(outcome.error);
      if (error) return { error };
      return outcome.value === undefined ? undefined : { defined: outcome.defined === true, value: outcome.value };
    });
    return outcomes.some((outcome) => outcome === undefined) ? undefined : (outcomes as CallValue);
  };
}

export const readProperties: MessageReader<Items> = (value) => (isItems(value) ? value : undefined);

export const readHostCalls: MessageReader<HostCalls> = (value) => {
  const fits = (call: unknown) => Array.isArray(call) && typeof call[0] === 'string' && isItems(call[1]);
  return Array.isArray(value) && value.length > 0 && value.every(fits) ? (value as HostCalls) : undefined;
};

export function readError(value: unknown): WireError | undefined {
  if (!isItems(value)) return undefined;
  const { name, message, stack, host } = value;
  if (typeof name !== 'string' || typeof message !== 'string' || typeof stack !== 'string') return undefined;
  return typeof host === 'number' ? { name, message, stack, host } : { name, message, stack };
}
