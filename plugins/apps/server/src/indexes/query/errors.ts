import { AppsError } from '../../common/errors';

/**
 * The error of a bad query, with its position (in characters, from 1) and reason (docs/reference/search.md#errors).
 */
export function queryError(position: number, reason: string, details: { index?: string } = {}): AppsError {
  return new AppsError('BadRequestError', `Bad query at position ${position}: ${reason}`, {
    details: { position, reason, ...details },
  });
}
