import type { Context } from 'koa';
import { z } from 'zod';
import {
  type AdminRoute,
  type AuditPage,
  adminRoutes,
  auditActions,
  type auditRoutes,
  type Needs,
  permissionsFor,
  permissionUid,
  type ruleRoutes,
} from '../../../../shared/admin-api';
import { must, readParameters } from '../../common/validation';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { jsonErrors, respondError } from '../response/respond-error';
import { appHandlers, indexHandlers, optionHandlers, siteHandlers, tileHandlers } from './apps';
import { archiveHandlers } from './archives';
import { codeHandlers } from './code';
import { administratorOf, type Handle, type Handlers, type PolicyContext } from './handler';
import { personHandlers } from './persons';
import { historyHandlers } from './record-history';
import { columnHandlers, draftHandlers, recordHandlers } from './records';
import { jobHandlers, runHandlers } from './runs';
import { whyHandlers } from './why';

/** Characters of a filter. */
const MAX_TEXT = 300;

const filter = z
  .string()
  .max(MAX_TEXT, must(`at most ${MAX_TEXT} characters`))
  .optional();

const parameters = z.object({
  site: filter,
  app: filter,
  action: z.enum(auditActions, must(`one of ${auditActions.join(', ')}`)).optional(),
  administrator: filter,
  before: filter,
});

/** What the admin route of the audit log answers (shared/admin/why.ts). */
const auditHandlers: Handlers<typeof auditRoutes> = {
  audit: (ctx, { audit }): Promise<AuditPage> => audit.list(readParameters(parameters, ctx.query)),
};

/** What the admin routes of rules on events answer (shared/admin/runs.ts). */
const ruleHandlers: Handlers<typeof ruleRoutes> = {
  rules: async (ctx, services) => services.rules.list(await administratorOf(ctx, services)),
  ruleChoices: (_ctx, { rules }) => rules.choices(),

  async ruleFunctions(ctx, services) {
    const { app, block } = ctx.query;
    return services.rules.functions({ app: String(app), block: String(block) }, await administratorOf(ctx, services));
  },

  async createRule(ctx, services) {
    const rule = await services.rules.create(jsonObject(ctx), await administratorOf(ctx, services));
    ctx.status = 201;
    return rule;
  },

  async updateRule(ctx, services) {
    return services.rules.update(String(ctx.params.rule), jsonObject(ctx), await administratorOf(ctx, services));
  },

  async deleteRule(ctx, { rules }): Promise<{ success: 'deleted' }> {
    await rules.delete(String(ctx.params.rule));
    return { success: 'deleted' };
  },
};

/** What each route of the admin panel answers (shared/admin-api.ts). */
const handlers: Record<AdminRoute, Handle> = {
  ...siteHandlers,
  ...appHandlers,
  ...recordHandlers,
  ...draftHandlers,
  ...historyHandlers,
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
  ...personHandlers,
};

/** The plugin's admin routes and their controller, as Strapi wants them exported. */
export function adminInterface(services: () => HttpServices) {
  const controller = Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      async (ctx: Context) => {
        try {
          const body = await handle(ctx, services());
          ctx.body = body;
        } catch (error) {
          await respondError(ctx, error, jsonErrors(services().logger, true));
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
