/** Host content for logic and for addresses, with exactly the requester's rights (contract, section 8, "Permissions"). */
export { createDocumentAccess } from './access';
export type { DocumentAccess } from './types';
