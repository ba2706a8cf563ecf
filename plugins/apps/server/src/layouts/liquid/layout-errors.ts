import { LiquidError } from 'liquidjs';
import { type AppsError, definitionError, isAppsError } from '../../errors';
import { MarkError } from './marks';

/** Runs work on a layout; its errors are DefinitionErrors with the position in the layout. */
export function asDefinitionError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw definitionErrorOf(error, path);
  }
}

/**
 * The error as an AppsError: unchanged if it is one, otherwise a DefinitionError with the position that Liquid gives, which
 * may be in a partial.
 */
export function definitionErrorOf(error: unknown, file: string): AppsError {
  if (isAppsError(error)) return error;
  if (error instanceof MarkError) return definitionError(error.message, { file, ...error.position });
  if (!LiquidError.is(error)) return definitionError(messageOf(error), { file }, error);
  const { originalError, token } = error as LiquidError & {
    token: { file?: string; getPosition(): [number, number] };
  };
  if (isAppsError(originalError)) return originalError;
  const [line, column] = token.getPosition();
  const message = originalError
    ? messageOf(originalError)
    : error.message.replace(/(, file:[^\n]*)?, line:\d+, col:\d+$/, '');
  return definitionError(message, { file: token.file ?? file, line, column }, error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
