import type { App, Block } from '../apps';
import { AppsError } from '../errors';
import type { Site } from '../sites/types';
import type { DoorServices } from './exchange';

/** The block that answers a view's address. */
export interface ViewOwner {
  app: App;
  block: Block;
}

export type Views = ReadonlyMap<string, ViewOwner>;

/**
 * The site's views by their ids. Of several blocks that declare one the first has it, by the ids of app and block; the
 * server's log is told of the others, once.
 */
export async function viewsOf(services: DoorServices, site: Site): Promise<Views> {
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

/** The DefinitionError of a block that declares a view which another one has; null if there is none. */
export function viewProblem(views: Views, app: App, block: Block): AppsError | null {
  const view = block.definition.view?.id;
  const owner = view === undefined ? undefined : views.get(view);
  if (!owner || (owner.app.id === app.id && owner.block.id === block.id)) return null;
  const named = (one: ViewOwner) => `${one.app.id}/blocks/${one.block.id}`;
  const file = [`blocks/${block.id}.yaml`, `blocks/${block.id}.yml`].find((path) => app.folder.files.has(path)) ?? '';
  const message = `The view "${view}" of ${named({ app, block })} is declared by ${named(owner)} too, which comes first and has it`;
  return new AppsError('DefinitionError', message, { position: { file } });
}

/** What the log was told; the bound only keeps years of edits from adding up. */
const told = new Set<string>();

function warn({ logger }: DoorServices, site: Site, { message }: AppsError, { folder }: App): void {
  const text = `[apps] ${site.id}, theme ${folder.themeId}: ${message}`;
  if (told.has(text)) return;
  if (told.size >= 1_000) told.clear();
  told.add(text);
  logger.warn(text);
}
