import type { Core } from '@strapi/strapi';
import { OwnValue } from '../../common/request-objects';

import type { Acl, AclRight, AppsAction, Requester, Rights } from '../types';

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
type Granted =
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
 * @param owner the creator whose records are the requester's own, '' for none: asked only where a right depends on it
 */
export const rightsOf = (requester: Requester, acl: Acl | null, owner?: () => string): Rights =>
  rightsBy(requester, grantedTo(requester, acl), owner);

/** The same by what was found before. */
export function rightsBy(
  requester: Requester,
  { by, granted, roles }: AllGranted,
  owner: () => string = () => requester.identity,
): Rights {
  const { view, create, edit, delete: remove, deleteAll } = by;
  const owns = (creator: string | null): boolean => creator !== null && creator !== '' && creator === owner();
  /** A right that may be to own records only. */
  const toRecords = (right: Granted | null) => {
    const isOwn = isToOwn(right);
    return (creator: string | null): boolean => right !== null && (!isOwn || owns(creator));
  };
  const seesOwn = isToOwn(view);
  const rights = {
    manager: requester.isManager,
    viewAll: view !== null && !seesOwn,
    view: toRecords(view),
    create: create !== null,
    edit: toRecords(edit),
    delete: toRecords(remove),
    deleteAll: deleteAll !== null,
    granted,
    roles,
  };
  return new FoundRights(rights, seesOwn ? owner : noOwner);
}

const noOwner = (): string => '';

/** Rights that were found. A class: the getter of an object literal would keep the request up to the next full collection (docs/decisions/garbage.md). */
export class FoundRights implements Rights {
  readonly manager: boolean;
  readonly viewAll: boolean;
  readonly view: Rights['view'];
  readonly create: boolean;
  readonly edit: Rights['edit'];
  readonly delete: Rights['delete'];
  readonly deleteAll: boolean;
  readonly granted: readonly AclRight[];
  readonly roles: readonly string[];

  /** @param owner the creator whose records the requester sees alone, '' for none */
  constructor(
    rights: Omit<Rights, 'viewOwn'>,
    private readonly owner: () => string,
  ) {
    this.manager = rights.manager;
    this.viewAll = rights.viewAll;
    this.view = rights.view;
    this.create = rights.create;
    this.edit = rights.edit;
    this.delete = rights.delete;
    this.deleteAll = rights.deleteAll;
    this.granted = rights.granted;
    this.roles = rights.roles;
  }

  get viewOwn(): string | null {
    return this.owner() || null;
  }
}

/** What an `acl` and Strapi's permissions grant to a requester: to which records is not asked yet. */
export interface AllGranted {
  by: Readonly<Record<RecordRight, Granted | null>>;
  /** Lists of the `acl` that name the requester. */
  granted: readonly AclRight[];
  /** Roles of the `acl` that name the requester. */
  roles: readonly string[];
}

const known = new OwnValue<Requester, Map<Acl | null, AllGranted>>('granted');

/** Apps whose rights are remembered for one requester: all visitors without a login are one, as long as their role does not change. */
const MAX_KNOWN = 1_000;

/** Freezes a requester. What an `acl` grants to it is found once. */
export function newRequester(fields: Requester): Requester {
  known.set(fields, new Map());
  return Object.freeze(fields);
}

function grantedTo(requester: Requester, acl: Acl | null): AllGranted {
  const byAcl = known.get(requester);
  const before = byAcl?.get(acl);
  if (before) return before;
  const found = findGranted(requester, acl);
  if (byAcl && byAcl.size >= MAX_KNOWN) byAcl.clear();
  byAcl?.set(acl, found);
  return found;
}

/** What `acl` grants to a requester, found now. */
export function findGranted(requester: Requester, acl: Acl | null): AllGranted {
  const indexes = ACL_RIGHTS.map((list) => (acl === null ? -1 : indexOf(requester, acl.rights[list])));
  const indexIn = (list: AclRight): number => indexes[ACL_RIGHTS.indexOf(list)] ?? -1;
  const by = (right: RecordRight) => grantedBy(requester, acl, right, indexIn);
  return {
    by: {
      view: by('view'),
      create: by('create'),
      edit: by('edit'),
      delete: by('delete'),
      deleteAll: by('deleteAll'),
    },
    granted: ACL_RIGHTS.filter((list) => indexIn(list) >= 0),
    roles: acl === null ? [] : Object.keys(acl.roles).filter((role) => allowsRole(requester, acl, role)),
  };
}

const allowsRole = (requester: Requester, acl: Acl, role: string): boolean =>
  indexOf(requester, acl.roles[role] ?? []) >= 0;

const USER = 'plugin::users-permissions.user';
const ROLE = 'plugin::users-permissions.role';

/** Names that are looked up for one app: a list of thousands was not written by hand. */
const MAX_NAMES = 200;

/** The names of an `acl` that no user or role has, and the names of all roles. */
export interface KnownNames {
  unknown: string[];
  roles: string[];
}

/** Looks names up among users and roles, exactly as rights compare them (`acl.ts`). */
export async function lookUpNames(strapi: Core.Strapi, names: readonly string[]): Promise<KnownNames> {
  const asked = [...new Set(names)].filter((name) => name !== '*').slice(0, MAX_NAMES);
  if (asked.length === 0 || strapi.contentType(ROLE) === undefined) return { unknown: [], roles: [] };
  const [roleRows, userRows]: { name?: string; username?: string }[][] = await Promise.all([
    strapi.db.query(ROLE).findMany({ select: ['name'], limit: 1_000 }),
    strapi.db.query(USER).findMany({ select: ['username'], where: { username: { $in: asked } } }),
  ]);
  const roles = (roleRows ?? []).flatMap(({ name }) => name ?? []);
  const known = new Set([...roles, ...(userRows ?? []).map(({ username }) => username)]);
  return { unknown: asked.filter((name) => !known.has(name)), roles };
}
