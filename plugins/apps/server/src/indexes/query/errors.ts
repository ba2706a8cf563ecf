import { AppsError } from '../../errors';

/** A query that cannot be answered: says where (position counts characters from 1) and why (contract, section 4). */
export function queryError(position: number, reason: string, details: { index?: string } = {}): AppsError {
  return new AppsError('BadRequestError', `Bad query at position ${position}: ${reason}`, {
    details: { position, reason, ...details },
  });
}
