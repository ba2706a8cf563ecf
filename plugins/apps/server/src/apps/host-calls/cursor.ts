import { AppsError } from '../../common/errors';

/** An opaque position in an app's records in order of creation. */
export function writeCursor(seq: number): string {
  return Buffer.from(`s${seq}`).toString('base64url');
}

/** The `seq` of a cursor; BadRequestError for a text that `writeCursor` has not made. */
export function readCursor(cursor: string): number {
  const match = /^s(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) throw new AppsError('BadRequestError', 'The cursor is not one that this service gave');
  return Number(match[1]);
}
