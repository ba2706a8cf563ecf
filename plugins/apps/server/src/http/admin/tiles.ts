import type { BlockChoice, tileRoutes } from '../../../../shared/admin-api';
import { appsOf, type Handlers } from './handler';

/** What the admin routes of the custom field for tiles answer (shared/admin/tiles.ts). */
export const tileHandlers: Handlers<typeof tileRoutes> = {
  async blocks(_ctx, services): Promise<BlockChoice[]> {
    const choices = new Map<string, BlockChoice>();
    for (const site of await services.sites.all()) {
      for (const { app } of await appsOf(services, site)) {
        for (const block of app.blocks.values()) {
          const value = `${app.id}/blocks/${block.id}`;
          // An empty list lets only managers in.
          const isForManagers = block.definition.viewPermission?.length === 0;
          if (!block.layout || isForManagers || choices.has(value)) continue;
          choices.set(value, {
            app: app.id,
            block: block.id,
            value,
            url: services.sites.urls.block(site, app.id, block.id),
          });
        }
      }
    }
    return [...choices.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
  },
};
