import type { Items } from '../../../../shared/json';
import type { Rights } from '../../auth/types';
import { objectsWith } from '../../common/request-objects';

import type { LayoutData } from '../../layouts/types';
import type { ContentData, ContextData, PlacesData, RecordData } from '../../logic/types';
import type { StoredRecord } from '../../records/types';
import type { ContentItem, Site } from '../../sites/types';
import { attributes } from '../elements';
import type { App, Block } from '../types';
import { originalOf } from './observed';
import type { Run, Visit } from './types';

/** The data of `context` in the sandbox, for one block of a run (docs/reference/logic.md#context). */
export function contextData(run: Run, block: Block | null, record: StoredRecord | null): ContextData {
  const { visit } = run;
  // The sandbox notes by itself what logic looks at.
  const { request, parentRequest, visitor } = visit;
  return {
    app: appData(run, run.app),
    block: block && { id: block.id, url: blockAddress(run, block.id) },
    record: record && recordData(run, run.app, record),
    request: originalOf(request),
    parent_request: parentRequest && originalOf(parentRequest),
    portal: portalData(visit.site),
    params: visit.params,
    content: visit.isContentGone ? null : contentData(visit.content),
    user: originalOf(visit.requester).profile,
    visitor: visitorData(run.app, visitor && originalOf(visitor)),
    acl: aclData(run, run.app, run.rights),
  };
}

/** How a block is shown: with a record or without, with inputs or plain text. */
export interface Shown {
  record: StoredRecord | null;
  mode: 'input' | 'text';
  /** What places the block has; null without rules about them. */
  places?: PlacesData | null;
}

interface LayoutState {
  run: Run;
  plain: { [name: string]: unknown };
}

const plain = (name: string) => (state: LayoutState) => state.plain[name];

const layoutObject = objectsWith<LayoutState>({
  app: plain('app'),
  block: plain('block'),
  record: plain('record'),
  /** `input` or `text`: a layout may have labels of its own for either. */
  mode: plain('mode'),
  visitor: ({ run: { app, visit } }) => visitorData(app, visit.visitor),
  request: plain('request'),
  parent_request: plain('parent_request'),
  portal: plain('portal'),
  params: plain('params'),
  content: ({ run: { visit } }) => contentOf(visit),
  user: ({ run: { visit } }) => visit.requester.profile,
});

/** Liquid's `context` in a block's layout: plain data only. */
export function layoutContext(run: Run, block: Block, { record, mode, places = null }: Shown): LayoutData['context'] {
  const { visit, services, app } = run;
  const { request, parent_request, portal, params } = visitData(visit);
  const url = services.sites.urls.app(visit.site, app.id, visit.contentPath);
  return layoutObject({
    run,
    plain: {
      app: { id: app.id, url, options: app.settings.options },
      block: { id: block.id, url: blockAddress(run, block.id), places },
      record: record && { ...record.items, id: record.id, url: recordData(run, app, record).url },
      mode,
      request,
      parent_request,
      portal,
      params,
    },
  });
}

/** `context.visitor`; null unless the app asks for visitors. */
const visitorData = (app: App, visitor: Visit['visitor']) =>
  app.settings.visitor ? { id: visitor?.id() ?? null } : null;

/** Liquid's `context` in the theme's own files: plain data only. */
export const themeContext: (visit: Visit) => LayoutData['context'] = objectsWith<Visit>(
  {
    request: (visit) => visit.request,
    portal: (visit) => portalData(visit.site),
    user: (visit) => visit.requester.profile,
    content: (visit) => contentOf(visit),
    // For the theme's own forms. Issued when it is read, because a page with a token must not be cached.
    csrf_token: (visit) => visit.csrfToken(),
  },
  ['csrf_token'],
);

/** Data of a visit for Liquid. */
function visitData(visit: Visit) {
  return {
    request: visit.request,
    parent_request: visit.parentRequest,
    portal: portalData(visit.site),
    params: visit.params,
  };
}

function contentOf(visit: Visit) {
  visit.inputs?.look('content');
  return contentFields(visit.content);
}

/** A content item in Liquid: its fields are properties, overridden by the item's own. */
const contentFields = (content: ContentItem) => ({ ...content.fields, ...content, fields: content.fields });

/** The address that shows the current block again: the view of the request, else the block's own. */
export function blockAddress({ app, visit, services, depth }: Run, block: string): string {
  const { urls } = services.sites;
  if (visit.view !== undefined && depth === 0) return urls.view(visit.site, visit.view, visit.contentPath);
  return urls.block(visit.site, app.id, block, visit.contentPath);
}

/**
 * The query of a visit as an attribute of its block's form, with which the browser script loads the block again; '' without a query. It is
 * not a whole address, so that it leads to no other block.
 */
export function queryAttribute({ request, site }: Visit): string {
  const query = new URL(originalOf(request).url, site.url).search.slice(1);
  return query === '' ? '' : attributes({ 'data-apps-query': query });
}

function blockData({ visit, services }: Run, app: App, id: string) {
  return { id, url: services.sites.urls.block(visit.site, app.id, id, visit.contentPath) };
}

/** `context.app`, and the result of `get_app`. */
export function appData(run: Run, app: App): ContextData['app'] {
  const { visit, services } = run;
  return {
    id: app.id,
    url: services.sites.urls.app(visit.site, app.id, visit.contentPath),
    settings: publicSettings(app, run.rights.manager),
    options: app.settings.options,
    blocks: [...app.blocks.keys()].map((id) => blockData(run, app, id)),
    indexes: [...new Set([...app.indexes.keys(), 'id'])].sort(),
  };
}

/**
 * The settings that `GET <app>` shows: as `publicSettings`, with `mail` for managers only, because anyone may read them
 * (docs/reference/json-interface.md#settings).
 */
export function shownSettings(app: App, manager: boolean): Items {
  const { mail, ...rest } = publicSettings(app, manager);
  return manager && mail !== undefined ? { ...rest, mail } : rest;
}

/** The parsed settings.yaml, with `acl` and `webhooks` for managers only (docs/reference/json-interface.md#settings). */
function publicSettings(app: App, manager: boolean): Items {
  if (manager) return app.settings.source;
  const { acl: _acl, webhooks: _webhooks, ...rest } = app.settings.source;
  return rest;
}

export function aclData(run: Run, app: App, rights: Rights): ContextData['acl'] {
  const requester = originalOf(run.visit.requester);
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
    url: recordUrl(run, app, record.id),
    items: record.items,
  };
}

/** The address of a record of an app on the visit's site. */
export const recordUrl = ({ services, visit }: Run, app: App, id: string): string =>
  services.sites.urls.record(visit.site, app.id, id, visit.contentPath);

export function contentData(item: ContentItem): ContentData {
  const { type, id, documentId, title, url, path, locale, fields } = item;
  return { type, id, documentId, title, url, path, locale, fields };
}

/** `context.portal`, in logic and in Liquid. */
function portalData({ id, title, url, theme, locale, timeZone }: Site): ContextData['portal'] {
  return { id, title, url, theme, locale, time_zone: timeZone ?? serverZone };
}

/** The time zone of the server's clock. */
const serverZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
