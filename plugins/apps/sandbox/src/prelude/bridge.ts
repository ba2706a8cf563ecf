import type { Items, Json } from '../../../shared/json';
import type { HostAnswer, HostCalls } from '../../../shared/logic-protocol';
import { ownCall } from '../own-calls';
import { timeIsOver } from '../replies';
import { hostError, stackHere } from './errors';
import { NativeRangeError, parse, stringify } from './primordials';

/** The runner's end of the bridge: text in, text out, '' for "stop". A theme's code must never reach it. */
export interface HostReference {
  applySyncPromise(receiver: undefined, args: [string]): unknown;
}

/**
 * Makes host calls, in order, in one round trip. The answer has the values of those that succeeded and the error of the first that
 * failed. Throws a RangeError, without a call, when their arguments are larger than a message may be.
 */
export type Exchange = (calls: HostCalls) => HostAnswer;

/** @param limits read at each call, because a session gets them when it is opened */
export function createExchange(reference: HostReference, limits: () => { messageSize: number }): Exchange {
  return (calls) => {
    const message = stringify(calls);
    const limit = limits().messageSize;
    if (message.length > limit)
      throw new NativeRangeError(`${calls[0]?.[0]}: more than ${limit} characters of arguments`);
    return parse(sendText(reference, message)) as HostAnswer;
  };
}

/** Makes a call that the runner itself answers: JSON text of an `OwnCall` in, JSON text of its answer out. */
export const askRunner = (reference: HostReference, call: string): string => sendText(reference, ownCall + call);

/** Sends the stack at which the time ran out to the runner. */
export function sendStack(reference: HostReference, stack: string): never {
  try {
    reference.applySyncPromise(undefined, [timeIsOver + stack]);
  } catch {
    // The stack is full: the position stays unknown.
  }
  return waitForEnd();
}

/**
 * One round trip to the server. Does not return when the session is over.
 * @param late called when the session's time is over: JavaScript sends its stack, and does not return either
 */
export function sendText(
  reference: HostReference,
  message: string,
  late: () => string = () => sendStack(reference, stackHere()),
): string {
  try {
    const answer = reference.applySyncPromise(undefined, [message]);
    if (answer === timeIsOver) return late();
    if (typeof answer === 'string' && answer !== '') return answer;
  } catch (error) {
    // The stack is full: the call has not been made, and the calling code gets the error.
    if (error instanceof NativeRangeError) throw error;
  }
  return waitForEnd();
}

/** Blocks until the engine ends this isolate: logic could catch an exception. */
function waitForEnd(): never {
  for (;;);
}

/** The value of the only call, or its error thrown. */
export function only(answer: HostAnswer): Json {
  if (answer.error) throw hostError(answer.error);
  return answer.values[0] ?? null;
}

/** Calls one host function; `app.ts` and the other files build on it. */
export type Call = (name: string, args: Items) => Json;
