import type { Acl, AclRight, JsonUses, Requester, Rights } from '../types';
import { rightsOf } from './acl';
import { ACL_RIGHTS, grants, indexOf, type RecordRight } from './grounds';

/**
 * What a requester may do with an app's records by the JSON interface (docs/reference/rights.md#the-json-interface): the union
 * over the lists of `acl` that name them, of what the list grants and `uses` leaves of it. Managers, and what Strapi's
 * permissions grant, are not limited.
 */
export function jsonRightsOf(requester: Requester, acl: Acl | null, uses: JsonUses): Rights {
  const rights = rightsOf(requester, acl);
  if (acl === null || !limits(uses)) return rights;
  const seeing = rightsOf(requester, listsFor(acl, uses, 'view'));
  const { create, edit, delete: remove, deleteAll } = rightsOf(requester, listsFor(acl, uses, 'edit'));
  const { granted, roles } = rights;
  return { ...seeing, create, edit, delete: remove, deleteAll, granted, roles };
}

/**
 * The lists of `acl` because of which a right is missing by the JSON interface: all that grant it are closed, and nothing else
 * grants it. None where it is not missing, or missing anyway.
 * @param own whether the record is the requester's own, or to be found out
 */
export function closedLists(
  requester: Requester,
  acl: Acl | null,
  uses: JsonUses,
  right: RecordRight,
  own: boolean,
): AclRight[] {
  const { lists, own: ownLists, action } = grants[right];
  if (acl === null || !limits(uses) || requester.isManager || requester.can(action)) return [];
  const granting = [...lists, ...(own ? ownLists : [])].filter((list) => indexOf(requester, acl.rights[list]) >= 0);
  return granting.some((list) => leaves(uses, list, right)) ? [] : granting;
}

/** The lists that grant a right, also to own records only, but not by the JSON interface. */
export function listsWithout(uses: JsonUses, right: RecordRight): AclRight[] {
  const { lists, own } = grants[right];
  return [...lists, ...own].filter((list) => !leaves(uses, list, right));
}

const limits = (uses: JsonUses): boolean => ACL_RIGHTS.some((list) => uses[list] !== 'write');

/** Whether a list may still be used for a right. */
const leaves = (uses: JsonUses, list: AclRight, right: RecordRight): boolean =>
  uses[list] === 'write' || (uses[list] === 'read' && right === 'view');

/** The acl without the names of the lists that are closed for a right. */
function listsFor(acl: Acl, uses: JsonUses, right: RecordRight): Acl {
  const entries = ACL_RIGHTS.map((list) => [list, leaves(uses, list, right) ? acl.rights[list] : []]);
  return { ...acl, rights: Object.fromEntries(entries) as Acl['rights'] };
}
