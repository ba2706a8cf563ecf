import type { AdminRouteEntry } from './permissions';

/** Routes of the custom field for tiles: every editor of content chooses tiles. */
export const tileRoutes = {
  /** → BlockChoice[] */
  blocks: { method: 'GET', path: '/blocks', needs: 'administrator' },
} as const satisfies Record<string, AdminRouteEntry>;

/** A block that a tile can show: one with a layout that not only managers may see. */
export interface BlockChoice {
  app: string;
  block: string;
  /** The value that the tile stores: `<app_id>/blocks/<block_id>`. */
  value: string;
  /** Its page, for a preview. */
  url: string;
}
