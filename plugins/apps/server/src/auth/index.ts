/**
 * The requester and their rights (docs/reference/rights.md): credentials become one Requester, lists of users and
 * groups become Rights, forms are guarded by CSRF tokens.
 */

export type { Impersonation, Impersonations } from './credentials/administrators';
export { addressGroup } from './credentials/rate-limit';
export { type Account, accountsOf, creatorsOf } from './credentials/users';
export { authorityOf, BASIC_CHALLENGE, createRequesters, type Requesters } from './requesters';
export {
  allows,
  grantedBy,
  grants,
  indexOf,
  type KnownNames,
  lookUpNames,
  type RecordRight,
  rightsOf,
  seesRecords,
} from './rights/acl';
export {
  appsActions,
  closedLists,
  holdsPermission,
  jsonRightsOf,
  listsWithout,
  permissionControllers,
  registerAdminActions,
} from './rights/permissions';
export { hidesSender, safeMethods, setCookie } from './sessions/cookies';
export { safeNext } from './sessions/csrf';
export { SESSION_COOKIE, watchPasswordChanges } from './sessions/sessions';
