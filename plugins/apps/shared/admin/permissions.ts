/** The plugin's admin permissions (docs/reference/rights.md#the-admin-panel); `manage` includes the others. */
export const adminPermissions = [
  'read',
  'records',
  'develop',
  'jobs',
  'audit',
  'persons',
  'metrics',
  'manage',
] as const;

export type AdminPermission = (typeof adminPermissions)[number];

/** The uid of a permission as Strapi stores it with a role. */
export const permissionUid = (permission: AdminPermission) => `plugin::apps.${permission}` as const;

/** Who may use a route or see a page: holders of any of the permissions, or every administrator. */
export type Needs = readonly Exclude<AdminPermission, 'manage'>[] | 'manage' | 'administrator';

/** The permissions of which one is enough; null: every administrator. */
export function permissionsFor(needs: Needs): AdminPermission[] | null {
  if (needs === 'administrator') return null;
  return needs === 'manage' ? ['manage'] : [...needs, 'manage'];
}

/** An admin route of the plugin, below `/apps`. */
export interface AdminRouteEntry {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  needs: Needs;
}

/** All that see the plugin's pages. */
export const anyPermission = ['read', 'records', 'develop', 'jobs', 'audit', 'persons'] as const;
