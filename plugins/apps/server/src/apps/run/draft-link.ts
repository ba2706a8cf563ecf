import type { Draft } from '../../links/types';
import type { Site } from '../../sites/types';
import type { App, Block } from '../types';
import type { AppServices, OpenDraft, Run } from './types';

/** The address of a draft, with its token. */
export function draftAddress(
  { services, site, app }: { services: Pick<AppServices, 'drafts' | 'sites'>; site: Site; app: Pick<App, 'id'> },
  draftId: string,
): string {
  const token = services.drafts.token({ draftId, key: { site: site.id, app: app.id } });
  return services.sites.urls.link(site, app.id, 'draft', token);
}

/** The draft of a token as a request continues it. */
export function openDraft(
  services: Pick<AppServices, 'drafts' | 'sites'>,
  { site, app, draft }: { site: Site; app: App; draft: Draft },
): OpenDraft {
  return { app: app.id, block: draft.block, draft, address: draftAddress({ services, site, app }, draft.draftId) };
}

/** The draft that a request continues with the form of a block; null where it continues none. */
export function draftOf({ visit, app, depth }: Pick<Run, 'visit' | 'app' | 'depth'>, block: Block): OpenDraft | null {
  const { draft } = visit;
  return depth === 0 && draft?.app === app.id && draft.block === block.id ? draft : null;
}
