import type { Acl, AclRight, AppsAction, Requester } from '../types';

export const ACL_RIGHTS: readonly AclRight[] = ['reader', 'author', 'editor', 'submitter', 'owner'];

/** A right to an app's records. */
export type RecordRight = 'view' | 'create' | 'edit' | 'delete' | 'deleteAll';

/** What grants a right: to any record by lists and Strapi's action, to the requester's own records by further lists. */
interface Grants {
  lists: readonly AclRight[];
  own: readonly AclRight[];
  action: AppsAction;
}

/** The one table of rights (docs/reference/rights.md#records-acl-in-settingsyaml). */
export const grants: Readonly<Record<RecordRight, Grants>> = {
  view: { lists: ['reader', 'author', 'editor'], own: ['owner'], action: 'plugin::apps.record.find' },
  create: { lists: ['author', 'editor', 'submitter'], own: [], action: 'plugin::apps.record.create' },
  edit: { lists: ['editor'], own: ['author', 'owner'], action: 'plugin::apps.record.update' },
  delete: { lists: ['editor'], own: ['author', 'owner'], action: 'plugin::apps.record.delete' },
  deleteAll: { lists: ['editor'], own: [], action: 'plugin::apps.record.delete' },
};

/** Why a requester has a right. */
export type Granted =
  | { by: 'manager' }
  /** The name at `index` of a list of the acl; `own`: to their own records. */
  | { by: 'list'; list: AclRight; index: number; own: boolean }
  | { by: 'action'; action: AppsAction };

/** The index of the first name in a list that is the requester's; -1 without one. `*` is everyone; an existing role's name is that role alone. */
export function indexOf(requester: Requester, list: readonly string[]): number {
  const { kind, groups, nameIsGroup } = requester;
  // Read only where no group says it: a rendering that depends on groups alone is shared by their members.
  const isUser = (name: string) => kind === 'user' && nameIsGroup !== true && name === requester.username;
  return list.findIndex((name) => name === '*' || groups.includes(name) || isUser(name));
}

/**
 * Why the requester has a right to records of an app with this `acl`, to any before own ones; null when they lack it.
 * @param indexes of the requester in the lists, where they are known already
 */
export function grantedBy(
  requester: Requester,
  acl: Acl | null,
  right: RecordRight,
  indexes: (list: AclRight) => number = (list) => (acl === null ? -1 : indexOf(requester, acl.rights[list])),
): Granted | null {
  if (requester.isManager) return { by: 'manager' };
  const { lists, own, action } = grants[right];
  for (const list of lists) if (indexes(list) >= 0) return { by: 'list', list, index: indexes(list), own: false };
  if (requester.can(action)) return { by: 'action', action };
  for (const list of own) if (indexes(list) >= 0) return { by: 'list', list, index: indexes(list), own: true };
  return null;
}
