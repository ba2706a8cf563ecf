import type { ruleRoutes } from '../../../../shared/admin-api';
import { jsonObject } from '../request/body';
import { administratorOf, type Handlers } from './handler';

/** What the admin routes of rules on events answer (shared/admin/rules.ts). */
export const ruleHandlers: Handlers<typeof ruleRoutes> = {
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
