import type { Acl, AclRight, Requester, Rights } from '../types';
import { ACL_RIGHTS, type Granted, grantedBy, indexOf } from './grounds';

/**
 * Whether a `view_permission` lets the requester in (docs/reference/rights.md#blocks-view_permission): null is open to
 * all, managers always pass, an empty list lets in managers alone.
 */
export function allows(requester: Requester, list: readonly string[] | null): boolean {
  return list === null || requester.isManager || indexOf(requester, list) >= 0;
}

/** Whether a requester may see any record at all, if only those that they have made. */
export const seesRecords = ({ viewAll, viewOwn }: Rights): boolean => viewAll || viewOwn !== null;

/** Whether a right is to own records only. */
const isToOwn = (granted: Granted | null): boolean => granted?.by === 'list' && granted.own;

/**
 * What a requester may do with an app's records over HTTP: the union of what the app's `acl` and Strapi's permissions
 * grant to the requester, their role or token (docs/reference/rights.md#strapis-permissions). `acl` is null for an app
 * without one.
 */
export function rightsOf(requester: Requester, acl: Acl | null): Rights {
  const indexes = new Map(
    ACL_RIGHTS.map((right) => [right, acl === null ? -1 : indexOf(requester, acl.rights[right])]),
  );
  const indexIn = (list: AclRight): number => indexes.get(list) ?? -1;
  const roles =
    acl === null ? [] : Object.keys(acl.roles).filter((role) => indexOf(requester, acl.roles[role] ?? []) >= 0);
  const by = (right: Parameters<typeof grantedBy>[2]) => grantedBy(requester, acl, right, indexIn);
  const owns = (creator: string | null): boolean => requester.identity !== '' && creator === requester.identity;
  /** A right that may be to own records only. */
  const toRecords = (right: 'view' | 'edit' | 'delete') => {
    const granted = by(right);
    const isOwn = isToOwn(granted);
    return (creator: string | null): boolean => granted !== null && (!isOwn || owns(creator));
  };

  const view = by('view');

  return {
    manager: requester.isManager,
    viewAll: view !== null && !isToOwn(view),
    viewOwn: isToOwn(view) && requester.identity !== '' ? requester.identity : null,
    view: toRecords('view'),
    create: by('create') !== null,
    edit: toRecords('edit'),
    delete: toRecords('delete'),
    deleteAll: by('deleteAll') !== null,
    granted: ACL_RIGHTS.filter((right) => indexIn(right) >= 0),
    roles,
  };
}
