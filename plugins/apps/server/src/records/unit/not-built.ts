import { type AppsError, unavailable } from '../../common/errors';
import { IndexMissing } from '../../indexes';

/** The error in a transaction of other code, where an index can be neither built nor awaited. Starts to build the index. */
export function notBuilt(missing: IndexMissing): AppsError {
  missing.build().catch(() => undefined);
  return unavailable('The indexes are not built yet, try again soon', 2);
}

/** The result of a search; ServiceUnavailableError when an index is missing, which is then built. */
export async function refuseMissing<T>(search: Promise<T>): Promise<T> {
  try {
    return await search;
  } catch (error) {
    throw error instanceof IndexMissing ? notBuilt(error) : error;
  }
}
