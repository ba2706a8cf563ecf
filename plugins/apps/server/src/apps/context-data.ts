import type { Items } from '../../../shared/json';
import type { ContentData, ContextData, RecordData } from '../logic/types';
import type { StoredRecord } from '../records/types';
import type { Rights } from '../requester/types';
import type { ContentItem, Site } from '../sites/types';
import type { Run } from './run';
import type { App, Block } from './types';

/** The data of which the sandbox makes `context` for one block of a run (contract, section 8). */
export function contextData(run: Run, block: Block | null, record: StoredRecord | null): ContextData {
  const { visit, services } = run;
  const url = (id: string) => services.sites.urls.block(visit.site, run.app.id, id, visit.contentPath);
  return {
    app: appData(run, run.app),
    block: block ? { id: block.id, url: url(block.id) } : null,
    record: record ? recordData(run, run.app, record) : null,
    request: visit.request,
    parent_request: visit.parentRequest,
    portal: portalData(visit.site),
    content: contentData(visit.content),
    user: visit.requester.profile,
    params: visit.params,
    acl: aclData(run, run.app, run.rights),
  };
}

/** `context.app` and what `get_app` gives. */
export function appData(run: Run, app: App): ContextData['app'] {
  const { visit, services } = run;
  return {
    id: app.id,
    url: services.sites.urls.app(visit.site, app.id, visit.contentPath),
    settings: publicSettings(app, run.rights.manager),
    blocks: [...app.blocks.keys()].map((id) => ({
      id,
      url: services.sites.urls.block(visit.site, app.id, id, visit.contentPath),
    })),
    indexes: [...new Set([...app.indexes.keys(), 'id'])].sort(),
  };
}

/** The parsed settings.yaml; `acl` is shown to managers only (contract, section 4, operation 1). */
export function publicSettings(app: App, manager: boolean): Items {
  if (manager) return app.settings.source;
  const { acl: _hidden, ...rest } = app.settings.source;
  return rest;
}

export function aclData(run: Run, app: App, rights: Rights): ContextData['acl'] {
  const { requester } = run.visit;
  return {
    username: requester.username,
    groups: [...requester.groups],
    rights: [...rights.granted],
    roles: Object.keys(app.settings.acl?.roles ?? {}),
    held: [...rights.roles],
    manager: rights.manager,
  };
}

export function recordData(run: Run, app: App, record: StoredRecord): RecordData {
  return {
    id: record.id,
    url: run.services.sites.urls.record(run.visit.site, app.id, record.id, run.visit.contentPath),
    items: record.items,
  };
}

export function contentData(item: ContentItem): ContentData {
  const { type, id, documentId, title, url, path, locale, fields } = item;
  return { type, id, documentId, title, url, path, locale, fields };
}

/** `context.portal`, in logic and in Liquid. */
export function portalData({ id, title, url, theme, locale }: Site): ContextData['portal'] {
  return { id, title, url, theme, locale };
}
