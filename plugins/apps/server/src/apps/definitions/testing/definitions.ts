import { type AppsError, isAppsError } from '../../../common/errors';

/** The DefinitionError that reading a file throws. Any other error is thrown again, and none is one too. */
export function failure(read: () => unknown): AppsError {
  try {
    read();
  } catch (error) {
    if (isAppsError(error, 'DefinitionError')) return error;
    throw error;
  }
  throw new Error('nothing was wrong');
}

/** A file of a theme, by default the definition of a block. */
export const file = (text: string, path = 'blocks/rate.yaml') => ({ path, text });

export const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index));
