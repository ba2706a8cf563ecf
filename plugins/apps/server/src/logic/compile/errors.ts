import { type AppsError, logicError } from '../../common/errors';
import type { WorkerFailure } from '../../workers';
import { MAX_COMPILE_TIME } from './task-types';

/** The LogicError of a file that cannot be compiled within the limits. */
export function overError(file: string, failure: WorkerFailure): AppsError {
  const message =
    failure.reason === 'time'
      ? `Compiling the logic takes longer than ${MAX_COMPILE_TIME} ms`
      : 'Compiling the logic takes too much memory, or its code is nested too deeply';
  return logicError(message, { file }, failure);
}
