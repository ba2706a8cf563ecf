import type { Context } from 'koa';
import { type AdminRoute, adminRoutes, type Needs, permissionsFor, permissionUid } from '../../../../shared/admin-api';
import type { HttpServices } from '../request/exchange';
import { respondError } from '../response/respond-error';
import { appHandlers } from './apps';
import { auditHandlers } from './audit';
import { archiveHandlers } from './files/archives';
import { codeHandlers } from './files/code';
import type { Handle, PolicyContext } from './handler';
import { indexHandlers } from './indexes';
import { jobHandlers } from './jobs';
import { optionHandlers } from './options';
import { columnHandlers } from './records/columns';
import { recordHandlers } from './records/records';
import { ruleHandlers } from './rules';
import { runHandlers } from './runs';
import { siteHandlers } from './sites';
import { tileHandlers } from './tiles';
import { whyHandlers } from './why';

/** What each route of the admin panel answers (shared/admin-api.ts). */
const handlers: Record<AdminRoute, Handle> = {
  ...siteHandlers,
  ...appHandlers,
  ...recordHandlers,
  ...columnHandlers,
  ...indexHandlers,
  ...optionHandlers,
  ...ruleHandlers,
  ...runHandlers,
  ...jobHandlers,
  ...tileHandlers,
  ...archiveHandlers,
  ...whyHandlers,
  ...codeHandlers,
  ...auditHandlers,
};

/** The plugin's admin routes and their controller, as Strapi wants them exported. */
export function adminInterface(services: () => HttpServices) {
  const controller = Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      async (ctx: Context) => {
        const view = { json: true, details: true, logger: services().logger };
        try {
          const body = await handle(ctx, services());
          ctx.body = body;
        } catch (error) {
          await respondError(ctx, error, view);
        }
      },
    ]),
  );
  const routes = Object.entries(adminRoutes).map(([name, { method, path, needs }]) => ({
    method,
    path,
    handler: `admin.${name}`,
    config: { policies: policiesOf(needs) },
  }));
  return { controller, policies: { 'any-permission': anyPermission }, routes: { type: 'admin' as const, routes } };
}

/** A policy: the administrator has one of the actions. Strapi's `admin::hasPermissions` asks for all of its own. */
const anyPermission = ({ state }: PolicyContext, { actions }: { actions: readonly string[] }): boolean =>
  actions.some((action) => state.userAbility?.can(action) === true);

function policiesOf(needs: Needs): unknown[] {
  const actions = permissionsFor(needs)?.map(permissionUid);
  const authenticated = 'admin::isAuthenticatedAdmin';
  return actions ? [authenticated, { name: 'plugin::apps.any-permission', config: { actions } }] : [authenticated];
}
