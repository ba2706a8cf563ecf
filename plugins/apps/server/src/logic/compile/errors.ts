import { AppsError, type SourcePosition } from '../../errors';
import type { WorkerFailure } from '../../workers';
import { compileTime } from './task-types';

/** A LogicError at a place of a theme's file; line and column count from 1. */
export function logicError(message: string, position: SourcePosition, cause?: unknown): AppsError {
  const place = position.line === undefined ? position.file : `${position.file}:${position.line}`;
  const column = position.line !== undefined && position.column !== undefined ? `:${position.column}` : '';
  return new AppsError('LogicError', `${message} (${place}${column})`, { position, cause });
}

/** A DefinitionError about a logic file as a whole, which is not compiled. */
export function fileError(file: string, message: string): AppsError {
  return new AppsError('DefinitionError', `${file}: ${message}`, { position: { file } });
}

/** The LogicError of a file that cannot be compiled within the limits. */
export function overError(file: string, failure: WorkerFailure): AppsError {
  const message =
    failure.reason === 'time'
      ? `Compiling the logic takes longer than ${compileTime} ms`
      : 'Compiling the logic takes too much memory, or its code is nested too deeply';
  return logicError(message, { file }, failure);
}
