import type { FailureReason } from '../../../../shared/logic-protocol';
import { type AppsError, logicError } from '../../common/errors';
import type { Fault } from '../supervisor/runner';
import { againError, lostError } from '../supervisor/runner-pool';
import type { HostAnswersOptions } from './host-answers';
import {
  brokenError,
  entryOf,
  memoryError,
  rejectedError,
  sizeError,
  type TimeoutState,
  timeoutError,
} from './outcome';

/** The errors that end a session, by the message or the end of its runner. */

type Session = Pick<HostAnswersOptions, 'program' | 'limits' | 'context'>;

/** The session's time is over. */
export function lateError(
  { limits, program, context }: Session,
  position: Pick<TimeoutState, 'functions' | 'stack' | 'hostCall'>,
): AppsError {
  return timeoutError(limits, { program, block: context.block?.id ?? null, ...position });
}

/** The runner reports a failure other than time; the session has run for `time` ms. */
export function failureError(
  { program, limits }: Session,
  reason: Exclude<FailureReason, 'time'>,
  message: string,
  time: number,
): AppsError {
  if (reason === 'crowded') return lostError(time);
  if (reason === 'again') return againError();
  if (reason === 'memory') return memoryError(program, limits);
  if (reason === 'size') return sizeError(program, limits);
  return reason === 'program' ? logicError(message, { file: entryOf(program) }) : rejectedError(message, program);
}

/** The runner has ended. */
export function faultError({ program, limits }: Session, fault: Fault): AppsError {
  if (fault === 'breach') return brokenError(program);
  return fault ? memoryError(program, limits) : lostError();
}
