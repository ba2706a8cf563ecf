import type { Context } from 'koa';
import type { AdminRoute } from '../../../../shared/admin-api';
import type { Requester } from '../../auth/types';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';

type RuleRoute = Extract<AdminRoute, `rule${string}` | `${string}Rule`>;

/** What the admin routes of rules on events answer (shared/admin-api.ts). */
export const ruleHandlers: Record<RuleRoute, (ctx: Context, services: HttpServices) => Promise<unknown>> = {
  rules: async (ctx, services) => services.rules.list(await managerOf(ctx, services)),
  ruleChoices: (_ctx, { rules }) => rules.choices(),

  async ruleFunctions(ctx, services) {
    const { app, block } = ctx.query;
    return services.rules.functions({ app: String(app), block: String(block) }, await managerOf(ctx, services));
  },

  async createRule(ctx, services) {
    const rule = await services.rules.create(jsonObject(ctx), await managerOf(ctx, services));
    ctx.status = 201;
    return rule;
  },

  async updateRule(ctx, services) {
    return services.rules.update(String(ctx.params.rule), jsonObject(ctx), await managerOf(ctx, services));
  },

  async deleteRule(ctx, { rules }): Promise<{ success: 'deleted' }> {
    await rules.delete(String(ctx.params.rule));
    return { success: 'deleted' };
  },
};

/** The administrator of a request, as Strapi has authenticated them. */
function managerOf(ctx: Context, { requesters }: HttpServices): Promise<Requester> {
  return requesters.fromStrapi(ctx.state);
}
