/** Host content for logic and for addresses, with exactly the requester's rights (docs/reference/rights.md#content). */
export { createDocumentAccess } from './access';
export type { DocumentAccess } from './types';
