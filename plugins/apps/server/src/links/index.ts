/** Signed links to records and drafts: made, found, revoked; the drafts themselves. */
export { createDrafts, DraftEnded } from './drafts';
export { createLinks } from './links';
export type * from './types';
