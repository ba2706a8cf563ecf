import type { Core } from '@strapi/strapi';
import { type AdminPermission, adminPermissions, permissionUid } from '../../../../shared/admin-api';
import type { Acl, AclRight, AppsAction, JsonUses, Requester, Rights } from '../types';
import { ACL_RIGHTS, FoundRights, findGranted, grants, indexOf, type RecordRight, rightsBy, rightsOf } from './acl';

/** The admin permission whose holders are managers (docs/reference/rights.md#managers). */
export const MANAGE_PERMISSION = 'plugin::apps.manage';

/** The plugin's content-API actions that an administrator has by an admin permission (docs/reference/rights.md#the-admin-panel). */
export const actionsByPermission: Record<'read' | 'records', readonly AppsAction[]> = {
  read: ['plugin::apps.record.find'],
  records: [
    'plugin::apps.record.find',
    'plugin::apps.record.create',
    'plugin::apps.record.update',
    'plugin::apps.record.delete',
  ],
};

/** The plugin's content-API actions by controller (docs/reference/rights.md#strapis-permissions). */
const actions = { record: ['find', 'create', 'update', 'delete'], app: ['manage'] } as const;

/** All of the plugin's content-API actions. */
export const appsActions: readonly AppsAction[] = Object.entries(actions).flatMap(([controller, names]) =>
  names.map((name) => `plugin::apps.${controller}.${name}` as AppsAction),
);

type Action = (ctx: { notFound(): void }) => void;

/** A controller action that no route leads to: it exists to be granted, and answers 404 if it is ever called. */
function grantable(): Action {
  const action: Action = (ctx) => ctx.notFound();
  // Strapi's mark of content-API actions; users-permissions and API tokens list marked ones.
  return Object.assign(action, { [Symbol.for('__type__')]: ['content-api'] });
}

/**
 * Controllers that make the plugin's actions appear in the roles' and API tokens' screens, and keep their stored permissions
 * from being removed as unknown at the start. Part of the plugin's `controllers` export.
 */
export const permissionControllers: Record<keyof typeof actions, Record<string, Action>> = {
  record: Object.fromEntries(actions.record.map((name) => [name, grantable()])),
  app: Object.fromEntries(actions.app.map((name) => [name, grantable()])),
};

/** How the role's screen shows the admin permissions; its sub-category is that of most plugins. */
const displayNames: Record<AdminPermission, string> = {
  read: 'See apps, their state and their records',
  records: 'Create, change, delete, import and export records',
  develop: 'See and edit the code of apps, their runs and permissions',
  jobs: 'See jobs and schedules with what they were given, run jobs again, delete them',
  audit: 'See what administrators have run in the names of others',
  persons: 'Find, export and erase everything that is stored of a person',
  metrics: 'See the metrics of the server',
  manage: 'Manage all: themes, sites, options, indexes, rules, and all of the above',
};

/** Whether a requester is an administrator with a permission of the panel, or with that to manage all. */
export function holdsPermission({ kind, isManager, auth }: Requester, permission: AdminPermission): boolean {
  const ability = auth.ability as { can(action: string): boolean } | null | undefined;
  return kind === 'administrator' && (isManager || ability?.can(permissionUid(permission)) === true);
}

/** Registers the admin permissions; for the plugin's `bootstrap`. */
export async function registerAdminActions(strapi: Core.Strapi): Promise<void> {
  const actions = adminPermissions.map((uid) => ({
    section: 'plugins',
    pluginName: 'apps',
    subCategory: 'general',
    uid,
    displayName: displayNames[uid],
  }));
  await strapi.service('admin::permission').actionProvider.registerMany(actions);
}

export type KnexQuery = ReturnType<Core.Strapi['db']['connection']>;

/** The table behind a relation, and its columns for this side and the other. */
export interface RelationTable {
  table: string;
  own: string;
  other: string;
}

/**
 * Strapi's tables for statements that every request needs: Strapi's query engine takes several statements where one does, at
 * several times the cost (docs/decisions/requester-roles.md).
 */
export interface StrapiTables {
  tableOf(uid: string): string;
  columnOf(uid: string, attribute: string): string;
  linkOf(uid: string, attribute: string): RelationTable;
  /**
   * Makes a statement on a table, whose text is made once, at the first call.
   * @param build gets placeholders of the values, by their position in a call
   * @returns runs it with values
   */
  statement<Row>(table: () => string, build: (query: KnexQuery, value: ValuePlaceholder) => KnexQuery): Ask<Row>;
}

export type ValuePlaceholder = (position: number) => string;
export type Ask<Row> = (...values: unknown[]) => Promise<Row[]>;

/** Runs a statement with `?` for its values, in the transaction that the caller is in. */
export type RunStatement = (sql: string, values: readonly unknown[]) => Promise<object[]>;

const placeholder: ValuePlaceholder = (position) => `\0value ${position}`;
const positionOf = (binding: unknown): number => Number(/^\0value (\d+)$/.exec(String(binding))?.[1] ?? -1);

export function createPermissionTables({ db }: Core.Strapi, run: RunStatement): StrapiTables {
  return {
    tableOf: (uid) => db.metadata.get(uid).tableName,
    columnOf(uid, attribute) {
      const { columnName } = db.metadata.get(uid).attributes[attribute] as { columnName?: string };
      return columnName ?? attribute;
    },
    linkOf(uid, attribute) {
      const { joinTable } = db.metadata.get(uid).attributes[attribute] as unknown as {
        joinTable: { name: string; joinColumn: { name: string }; inverseJoinColumn: { name: string } };
      };
      return { table: joinTable.name, own: joinTable.joinColumn.name, other: joinTable.inverseJoinColumn.name };
    },
    statement<Row>(table: () => string, build: (query: KnexQuery, value: ValuePlaceholder) => KnexQuery): Ask<Row> {
      let made: { sql: string; bindings: readonly unknown[] } | undefined;
      return async (...values) => {
        made ??= build(db.getConnection(table()), placeholder).toSQL();
        const bound = made.bindings.map((binding) => {
          const position = positionOf(binding);
          return position < 0 ? binding : values[position];
        });
        return (await run(made.sql, bound)) as Row[];
      };
    },
  };
}

/**
 * What a requester may do with an app's records by the JSON interface (docs/reference/rights.md#the-json-interface): the union
 * over the lists of `acl` that name them, of what the list grants and `uses` leaves of it. Managers, and what Strapi's
 * permissions grant, are not limited.
 */
export function jsonRightsOf(requester: Requester, acl: Acl | null, uses: JsonUses, owner?: () => string): Rights {
  const rights = rightsOf(requester, acl, owner);
  if (acl === null || !limits(uses)) return rights;
  const of = (right: RecordRight) => rightsBy(requester, findGranted(requester, listsFor(acl, uses, right)), owner);
  const { manager, granted, roles } = rights;
  const seeing = of('view');
  const { viewAll, view } = seeing;
  const { create, edit, delete: remove, deleteAll } = of('edit');
  return new FoundRights(
    { manager, viewAll, view, create, edit, delete: remove, deleteAll, granted, roles },
    () => seeing.viewOwn ?? '',
  );
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
