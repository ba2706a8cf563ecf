import { useAuth } from '@strapi/strapi/admin';
import { useCallback } from 'react';
import { anyPermission, type Needs, permissionsFor, permissionUid } from '../../shared/admin-api';

/** All permissions that let an administrator see the plugin's pages, as Strapi's menu and pages take them. */
export const seePermissions = [...anyPermission, 'manage' as const].map((name) => ({
  action: permissionUid(name),
  subject: null,
}));

/** Says whether the administrator may use a route or see a page; the server asks the same. */
export function useMay(): (needs: Needs) => boolean {
  const permissions = useAuth('Apps', (state) => state.permissions);
  return useCallback(
    (needs) => {
      const wanted = permissionsFor(needs)?.map(permissionUid) as string[] | undefined;
      return !wanted || permissions.some(({ action }) => wanted.includes(action));
    },
    [permissions],
  );
}
