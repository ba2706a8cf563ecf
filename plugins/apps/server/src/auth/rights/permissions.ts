import type { Core } from '@strapi/strapi';
import { type AdminPermission, adminPermissions, permissionUid } from '../../../../shared/admin-api';
import type { AppsAction, Requester } from '../types';

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
    ...{ section: 'plugins', pluginName: 'apps', subCategory: 'general' },
    ...{ uid, displayName: displayNames[uid] },
  }));
  await strapi.service('admin::permission').actionProvider.registerMany(actions);
}
