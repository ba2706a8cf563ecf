/** Signed links to records: made, found, revoked. */
export { createLinks } from './links';
export type * from './types';
