import { LRUCache } from 'lru-cache';
import type { App, Block } from '../../apps';
import { type AppsError, definitionError } from '../../common/errors';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';

/** The block that answers a view's address. */
export interface ViewOwner {
  app: App;
  block: Block;
}

export type Views = ReadonlyMap<string, ViewOwner>;

/** The site's views by their ids. First block by ids of app and block wins; the others are logged once. */
export async function viewsOf(services: HttpServices, site: Site): Promise<Views> {
  const views = new Map<string, ViewOwner>();
  for (const id of [...(await services.sites.apps(site))].sort()) {
    const app = await services.loadApp(site, id);
    for (const block of app?.blocks.values() ?? []) {
      const view = block.definition.view?.id;
      if (!app || view === undefined) continue;
      if (!views.has(view)) views.set(view, { app, block });
      else warn(services, site, viewProblem(views, app, block) as AppsError, app);
    }
  }
  return views;
}

/** The DefinitionError of a block whose view belongs to an earlier block; null otherwise. */
export function viewProblem(views: Views, app: App, block: Block): AppsError | null {
  const view = block.definition.view?.id;
  const owner = view === undefined ? undefined : views.get(view);
  if (!owner || (owner.app.id === app.id && owner.block.id === block.id)) return null;
  const named = (one: ViewOwner) => `${one.app.id}/blocks/${one.block.id}`;
  const file = [`blocks/${block.id}.yaml`, `blocks/${block.id}.yml`].find((path) => app.folder.files.has(path)) ?? '';
  const message = `The view "${view}" of ${named({ app, block })} is declared by ${named(owner)} too, which comes first and has it`;
  return definitionError(message, { file });
}

/** Messages that were logged; bounded, so that years of edits do not fill the memory. */
const logged = new LRUCache<string, true>({ max: 1_000 });

function warn({ logger }: HttpServices, site: Site, { message }: AppsError, { folder }: App): void {
  const text = `[apps] ${site.id}, theme ${folder.themeId}: ${message}`;
  if (logged.has(text)) return;
  logged.set(text, true);
  logger.warn(text);
}
