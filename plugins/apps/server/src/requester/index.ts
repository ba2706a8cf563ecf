/**
 * Who is asking, and what they may do (contract, sections 5 and 6): credentials become one Requester, lists of users and
 * groups become Rights, forms are guarded by CSRF tokens.
 */
export { allows, rightsOf } from './acl';
export { addressGroup } from './address-group';
export type { Csrf } from './csrf';
export { type KnownNames, lookUpNames } from './known-names';
export { safeNext } from './next';
export { watchPasswordChanges } from './password-changes';
export { appsActions, MANAGE_PERMISSION, permissionControllers, registerAdminActions } from './permissions';
export { type Asking, BASIC_CHALLENGE, createRequesters, type Requesters } from './requesters';
export { SESSION_COOKIE } from './sessions';
