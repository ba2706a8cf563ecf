import type { Items, Json } from '../../../shared/json';
import { hostError, stackHere } from './errors';
import { NativeRangeError, parse, stringify } from './primordials';
import type { HostAnswer, HostCalls } from './types';

/** The runner's end of the bridge: text in, text out, '' for "stop". Must never become reachable by a theme's code. */
export interface HostReference {
  applySyncPromise(receiver: undefined, args: [string]): unknown;
}

/** Makes host calls, in order, in one round trip. Throws the error of the first that fails, after `done` saw the rest. */
export type Exchange = (calls: HostCalls) => HostAnswer;

export function createExchange(reference: HostReference, limits: () => { messageSize: number }): Exchange {
  return (calls) => {
    const message = stringify(calls);
    const limit = limits().messageSize;
    if (message.length > limit)
      throw new NativeRangeError(`${calls[0][0]}: more than ${limit} characters of arguments`);
    return parse(sendText(reference, message)) as HostAnswer;
  };
}

/** The runner's answer when the session's time is over: it asks for the current stack. */
const timeIsOver = 'T';

/** Sends the stack at which the time ran out to the runner. */
export function tellPlace(reference: HostReference, stack: string): never {
  try {
    reference.applySyncPromise(undefined, [timeIsOver + stack]);
  } catch {
    // The stack is full: the position stays unknown.
  }
  return spin();
}

/**
 * One round trip to the server. Does not return when the session is over.
 * @param late called when the session's time is over: JavaScript sends its stack, and does not return either
 */
export function sendText(
  reference: HostReference,
  message: string,
  late: () => string = () => tellPlace(reference, stackHere()),
): string {
  try {
    const answer = reference.applySyncPromise(undefined, [message]);
    if (answer === timeIsOver) return late();
    if (typeof answer === 'string' && answer !== '') return answer;
  } catch (error) {
    // No room left on the stack: the call has not been made, and the code that asked for it is told so.
    if (error instanceof NativeRangeError) throw error;
  }
  return spin();
}

/** The session is over: an exception could be caught and ignored, so wait here for the engine to end this isolate. */
function spin(): never {
  for (;;);
}

/** The value of the only call, or its error thrown. */
export function only(answer: HostAnswer): Json {
  if (answer.error) throw hostError(answer.error);
  return answer.values[0];
}

/** Calls one host function: what `app.ts` and the others are made of. */
export type Call = (name: string, args: Items) => Json;
