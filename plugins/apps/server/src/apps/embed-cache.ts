import { randomBytes } from 'node:crypto';
import type { RequestData } from '../logic/types';
import { type AppServices, permittedBlock, type Ran, type Visit, withRun } from './run';
import { type Displayed, displayBlock } from './run-block';
import type { App } from './types';

type Shown = Ran<Displayed>;

/** Stands for the CSRF token in renderings that are kept; each answer gets a token of its own. */
const TOKEN = `csrf-${randomBytes(18).toString('hex')}`;

/** Characters of all renderings that are kept, and renderings, at most. */
const ROOM = { characters: 16_000_000, entries: 2_000 };

/** Renderings for anonymous visitors, the oldest first. */
export class RenderingCache {
  readonly #kept = new Map<string, { html: string; until: number }>();
  #characters = 0;

  get(key: string): string | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    if (found.until > performance.now()) return found.html;
    this.#drop(key);
    return undefined;
  }

  put(key: string, html: string, seconds: number): void {
    this.#drop(key);
    this.#kept.set(key, { html, until: performance.now() + seconds * 1000 });
    this.#characters += html.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= ROOM.entries && this.#characters <= ROOM.characters) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#kept.get(key)?.html.length ?? 0;
    this.#kept.delete(key);
  }
}

const caches = new WeakMap<object, RenderingCache>();

/**
 * A block's page for a visit. Where the definition says `cache`, anonymous visitors share a rendering for so many
 * seconds; its logic then sees nothing that tells one of them from another: no headers, no token. Never in debug mode,
 * and never where the logic did more than to show something.
 */
export async function shownBlock(services: AppServices, visit: Visit, app: App, blockId: string): Promise<Shown> {
  const show = (by: Visit) =>
    withRun(services, by, app, (run) =>
      displayBlock(run, permittedBlock(run, blockId), { record: null, mode: 'input' }),
    );
  const seconds = app.blocks.get(blockId)?.definition.cache ?? null;
  const shared = visit.requester.kind === 'anonymous' && !visit.writes.records && !app.settings.debug;
  if (seconds === null || !shared) return show(visit);

  const everybody = withoutTraces(visit);
  const key = keyOf(everybody, app, blockId);
  const cache = cacheOf(services);
  const fresh = (html: string): Displayed => ({ html: html.replaceAll(TOKEN, visit.csrfToken()) });
  const kept = cache.get(key);
  if (kept !== undefined)
    return { value: fresh(kept), response: { status: null, headers: {}, redirect: null }, logs: [], console: [] };
  const done = await show(everybody);
  const { status, headers, redirect } = done.response;
  if (!('html' in done.value) || status !== null || redirect !== null) return withToken(done, fresh);
  // What failed now may not fail the next time.
  const { html } = done.value;
  const isWhole = html.startsWith('<form') && !html.includes('class="apps-error"');
  if (isWhole && Object.keys(headers).length === 0) cache.put(key, html, seconds);
  return withToken(done, fresh);
}

const withToken = (done: Shown, fresh: (html: string) => Displayed): Shown =>
  'html' in done.value ? { ...done, value: fresh(done.value.html) } : done;

/** The store of records lives as long as the server: so does the cache beside it. */
function cacheOf({ store }: AppServices): RenderingCache {
  const cache = caches.get(store) ?? new RenderingCache();
  caches.set(store, cache);
  return cache;
}

function withoutTraces(visit: Visit): Visit {
  const { request, parentRequest } = visit;
  return {
    ...visit,
    request: anybodys(request),
    parentRequest: parentRequest && anybodys(parentRequest),
    pendingLog: [],
    csrfToken: () => TOKEN,
  };
}

const anybodys = ({ url, path, query }: RequestData): RequestData => ({
  method: 'GET',
  url,
  path,
  query,
  form: {},
  body: null,
  headers: {},
});

/** Everything that the rendering may depend on. */
function keyOf({ site, content, contentPath, request, parentRequest }: Visit, app: App, block: string): string {
  const place = [
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
  return JSON.stringify([...place, contentPath, content.type, content.documentId, request, parentRequest]);
}
