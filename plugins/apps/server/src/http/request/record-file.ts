import type { Encoding } from '../../../../shared/cells';
import { encodings } from '../../../../shared/cells';
import { AppsError } from '../../common/errors';
import { WrongEntry } from '../../interchange';

/** What reading or writing a file of records gives; BadRequestError for what the file cannot hold. */
export async function asRequest<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof WrongEntry ? new AppsError('BadRequestError', error.message) : error;
  }
}

/** The encoding that the parameter `charset` of a media type names; undefined without one. UnsupportedMediaTypeError. */
export function charsetOf(contentType: string): Encoding | undefined {
  const named = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase();
  if (named === undefined) return undefined;
  const known = encodings.find((one) => one === named || (one === 'utf-8' && named === 'utf8'));
  if (known) return known;
  throw new AppsError('UnsupportedMediaTypeError', `The charset of a table is one of ${encodings.join(', ')}`);
}
