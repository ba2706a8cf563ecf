import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RequestData } from '../../logic/types';
import { type Displayed, displayBlock, type Rendered } from '../blocks/run-block';
import { escapeHtml } from '../elements';
import { permittedBlock } from '../run/permitted-block';
import { withRun } from '../run/run';
import type { AppServices, Ran, Visit } from '../run/types';
import type { App } from '../types';

type Shown = Ran<Displayed>;

/** Placeholder of the CSRF token in cached renderings; each answer gets its own token. */
const TOKEN = `csrf-${randomBytes(18).toString('hex')}`;
/** The same for the mark of when the form was shown. */
const SHOWN = `shown-${randomBytes(18).toString('hex')}`;
/** The same for the task of a proof of work. */
const CHALLENGE = `challenge-${randomBytes(18).toString('hex')}`;

/** What anonymous visitors share of a rendering. */
type Shareable = Pick<Rendered, 'html' | 'title'>;

/** Maximum number of cached renderings, and of their characters together. */
const CACHE = { max: 2_000, maxSize: 16_000_000, ttlResolution: 0 };

const caches = new WeakMap<object, LRUCache<string, Shareable>>();

/** Forgets all shared renderings of this server process. */
export function clearRenderings({ store }: AppServices): void {
  caches.delete(store);
}

/**
 * A block's page for a visit. With `cache` in the definition, anonymous visitors share a rendering for that many seconds;
 * its logic then sees nothing that differs between them: no headers, no token. Not in debug mode, nor where the logic has
 * set a status, a header or a redirect.
 */
export async function shownBlock(services: AppServices, visit: Visit, app: App, blockId: string): Promise<Shown> {
  const show = (by: Visit) =>
    withRun(services, by, app, (run) =>
      displayBlock(run, permittedBlock(run, blockId), { record: null, mode: 'input' }),
    );
  const seconds = app.blocks.get(blockId)?.definition.cache ?? null;
  const shared = visit.requester.kind === 'anonymous' && !visit.writes.records && !app.settings.debug;
  if (seconds === null || !shared || visit.dry) return show(visit);

  if (app.settings.visitor) visit.visitor?.begin();
  let isSigned = false;
  const sharedVisit: Visit = {
    ...anonymised(visit),
    onSigned() {
      isSigned = true;
    },
  };
  const key = keyOf(sharedVisit, app, blockId);
  const cache = cacheOf(services);
  const fresh = (shown: Rendered): Rendered => ({
    ...shown,
    html: shown.html
      .replaceAll(TOKEN, visit.csrfToken())
      .replaceAll(SHOWN, visit.forms?.shown(app.id, blockId) ?? '')
      .replaceAll(CHALLENGE, () => escapeHtml(visit.forms?.challenge(app.id) ?? '')),
  });
  const cached = cache.get(key);
  if (cached !== undefined)
    return {
      value: fresh({ ...cached, failed: false, isForm: true }),
      response: { status: null, headers: {}, redirect: null },
      logs: [],
      console: [],
      flashes: [],
    };
  const done = await show(sharedVisit);
  const { status, headers, redirect } = done.response;
  if (!('html' in done.value) || status !== null || redirect !== null) return withToken(done, fresh);
  // A failed rendering is not cached: it may succeed the next time. A signed address may end before the rendering does.
  if (!done.value.failed && !isSigned && Object.keys(headers).length === 0) {
    const { html, title } = done.value;
    cache.set(key, { html, title }, { ttl: seconds * 1000, size: Math.max(1, html.length) });
  }
  return withToken(done, fresh);
}

const withToken = (done: Shown, fresh: (shown: Rendered) => Rendered): Shown =>
  'html' in done.value ? { ...done, value: fresh(done.value) } : done;

/** The cache lives as long as the store of records, that is, as the server. */
function cacheOf({ store }: AppServices): LRUCache<string, Shareable> {
  const cache = caches.get(store) ?? new LRUCache(CACHE);
  caches.set(store, cache);
  return cache;
}

function anonymised(visit: Visit): Visit {
  const { visitor: _own, ...shared } = visit;
  const { request, parentRequest } = visit;
  return {
    ...shared,
    request: sharedRequest(request),
    parentRequest: parentRequest && sharedRequest(parentRequest),
    pendingLog: [],
    csrfToken: () => TOKEN,
    forms: { shown: () => SHOWN, age: () => null, challenge: () => CHALLENGE },
  };
}

const sharedRequest = ({ url, path, query }: RequestData): RequestData => ({
  method: 'GET',
  url,
  path,
  query,
  form: {},
  body: null,
  headers: {},
});

/** All inputs of the rendering. */
function keyOf({ site, content, contentPath, request, parentRequest }: Visit, app: App, block: string): string {
  const inputs = [
    site.id,
    site.url,
    site.title,
    site.theme,
    site.locale,
    app.id,
    app.folder.themeId,
    app.revision,
    block,
  ];
  return JSON.stringify([...inputs, contentPath, content.type, content.documentId, request, parentRequest]);
}
