/**
 * The requester and their rights (docs/reference/rights.md): credentials become one Requester, lists of users and
 * groups become Rights, forms are guarded by CSRF tokens.
 */

export { addressGroup } from './credentials/address-group';
export { creatorsOf } from './credentials/creators';
export type { Impersonation, Impersonations } from './credentials/impersonations';
export { BASIC_CHALLENGE, createRequesters, type Requesters } from './requesters';
export { allows, rightsOf, seesRecords } from './rights/acl';
export { grantedBy, grants, indexOf, type RecordRight } from './rights/grounds';
export { closedLists, jsonRightsOf, listsWithout } from './rights/json';
export { type KnownNames, lookUpNames } from './rights/known-names';
export { appsActions, holdsPermission, permissionControllers, registerAdminActions } from './rights/permissions';
export { safeNext } from './sessions/next';
export { watchPasswordChanges } from './sessions/password-changes';
export { safeMethods } from './sessions/sender';
export { SESSION_COOKIE } from './sessions/sessions';
