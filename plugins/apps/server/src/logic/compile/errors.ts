import { AppsError, type SourcePosition } from '../../errors';

/** A LogicError at a place of a theme's file; line and column count from 1. */
export function logicError(message: string, position: SourcePosition, cause?: unknown): AppsError {
  const place = position.line === undefined ? position.file : `${position.file}:${position.line}`;
  const column = position.line !== undefined && position.column !== undefined ? `:${position.column}` : '';
  return new AppsError('LogicError', `${message} (${place}${column})`, { position, cause });
}
