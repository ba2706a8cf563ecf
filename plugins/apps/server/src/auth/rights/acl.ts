import type { Acl, AclRight, Requester, Rights } from '../types';

const ACL_RIGHTS: readonly AclRight[] = ['reader', 'author', 'editor', 'submitter'];

/** Whether a list of users and groups names the requester. `*` is everyone; an existing role's name is that role alone. */
function names(requester: Requester, list: readonly string[]): boolean {
  const { kind, username, groups, nameIsGroup } = requester;
  const user = kind === 'user' && nameIsGroup !== true ? username : null;
  return list.some((name) => name === '*' || name === user || groups.includes(name));
}

/**
 * Whether a `view_permission` lets the requester in (docs/reference/rights.md#blocks-view_permission): null is open to
 * all, managers always pass, an empty list lets in managers alone.
 */
export function allows(requester: Requester, list: readonly string[] | null): boolean {
  return list === null || requester.isManager || names(requester, list);
}

/**
 * What a requester may do with an app's records over HTTP: the union of what the app's `acl` and Strapi's permissions
 * grant to the requester, their role or token (docs/reference/rights.md#strapis-permissions). `acl` is null for an app
 * without one.
 */
export function rightsOf(requester: Requester, acl: Acl | null): Rights {
  const manager = requester.isManager;
  const granted = acl === null ? [] : ACL_RIGHTS.filter((right) => names(requester, acl.rights[right]));
  const roles = acl === null ? [] : Object.keys(acl.roles).filter((role) => names(requester, acl.roles[role] ?? []));
  const has = (...rights: AclRight[]): boolean => manager || rights.some((right) => granted.includes(right));
  const owns = (creator: string | null): boolean => requester.identity !== '' && creator === requester.identity;
  const editAny = has('editor') || requester.can('plugin::apps.record.update');
  const deleteAll = has('editor') || requester.can('plugin::apps.record.delete');
  const author = has('author');

  return {
    manager,
    view: has('reader', 'author', 'editor') || requester.can('plugin::apps.record.find'),
    create: has('author', 'editor', 'submitter') || requester.can('plugin::apps.record.create'),
    edit: (creator) => editAny || (author && owns(creator)),
    delete: (creator) => deleteAll || (author && owns(creator)),
    deleteAll,
    granted,
    roles,
  };
}
