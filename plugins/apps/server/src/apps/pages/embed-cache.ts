import { LRUCache } from 'lru-cache';
import { type Displayed, displayBlock, type Rendered } from '../blocks/run-block';
import { withRun } from '../run/run';
import type { AppServices, Ran, Run, Visit } from '../run/types';
import { permittedBlock } from '../run/visits';
import type { App } from '../types';
import { type CacheState, clearKept, countRendering, exactly, type Recipe } from './exact';
import { filledIn, type Parts, partsOf, placeholders } from './observed';

/** A block's rendering, and where it comes from. */
export type ShownBlock = Ran<Displayed> & { cache: CacheState };

/** What visitors share of a rendering. */
interface Shareable {
  parts: Parts;
  title: string;
  /** Characters. */
  size: number;
}

/** Maximum number of renderings that are kept for a time, and of their characters together. */
const TIMED = { max: 2_000, maxSize: 16_000_000, ttlResolution: 0 };

const timed = new WeakMap<object, LRUCache<string, Shareable>>();

/** Forgets all shared renderings of this server process. */
export function clearRenderings(services: AppServices): void {
  timed.delete(services.store);
  clearKept(services);
}

/** Changes the HTML of a block before it is shown or kept. */
type Finish = (html: string) => Promise<string>;

/**
 * A block's page for a visit: a kept rendering that is the same as a new one, or a new one. With `cache: <seconds>` in the
 * definition, anonymous visitors share a rendering for that many seconds, outside of debug mode.
 * @param finish is applied once to the HTML of a rendering
 */
export async function shownBlock(
  services: AppServices,
  visit: Visit,
  app: App,
  blockId: string,
  finish: Finish = async (html) => html,
): Promise<ShownBlock> {
  const seconds = app.blocks.get(blockId)?.definition.cache ?? null;
  const isShared = visit.requester.kind === 'anonymous' && !visit.writes.records && !app.settings.debug && !visit.dry;
  if (typeof seconds === 'number' && isShared) {
    const shown = await forSeconds(services, visit, app, { blockId, seconds, finish });
    countRendering(services, visit, { app, name: 'block' }, shown.cache);
    return shown;
  }
  const { ran, cache } = await exactly(services, visit, recipeOf(app, blockId, finish));
  return { cache, ...ran };
}

const show = (
  services: AppServices,
  visit: Visit,
  app: App,
  blockId: string,
  seen: (run: Run) => void = () => undefined,
): Promise<Ran<Displayed>> =>
  withRun(services, visit, app, async (run) => {
    const shown = await displayBlock(run, permittedBlock(run, blockId), { record: null, mode: 'input' });
    seen(run);
    return shown;
  });

type KeptBlock = { redirect: string } | (Shareable & { failed: boolean; isForm: boolean });

function recipeOf(app: App, blockId: string, finish: Finish): Recipe<Displayed, KeptBlock> {
  return {
    name: `block ${blockId}`,
    app,
    isOn: app.blocks.get(blockId)?.definition.cache !== false,
    make: (services, visit, seen) => show(services, visit, app, blockId, seen),
    async toKept(value) {
      if ('redirect' in value) return value;
      const { html, ...rest } = value;
      const finished = html === '' ? '' : await finish(html);
      return { parts: partsOf(finished), size: finished.length, ...rest };
    },
    fromKept(kept, visit) {
      if ('redirect' in kept) return kept;
      const { parts, size: _, ...rest } = kept;
      return { html: filledIn(parts, visit), ...rest };
    },
    sizeOf: (kept) => ('redirect' in kept ? 0 : kept.size),
    refusal(value) {
      if ('redirect' in value) return 'redirect';
      return value.failed ? 'failed' : null;
    },
  };
}

interface TimedBlock {
  blockId: string;
  seconds: number;
  finish: Finish;
}

/**
 * A rendering that may be as old as the definition says. Its logic sees nothing that differs between visitors: no headers, no
 * token. One whose logic has set a status, a header or a redirect is not kept.
 */
async function forSeconds(
  services: AppServices,
  visit: Visit,
  app: App,
  { blockId, seconds, finish }: TimedBlock,
): Promise<ShownBlock> {
  if (app.settings.visitor) visit.visitor?.begin();
  if (visit.inputs) {
    // The page is given to visitors without a cookie too.
    if (app.settings.visitor) visit.inputs.beginsVisitor = true;
    // The key has both as a whole.
    visit.inputs.lookAll(['request.url', 'request.query']);
  }
  let isSigned = false;
  let until = Number.POSITIVE_INFINITY;
  const sharedVisit = visit.shared(placeholders, {
    onSigned() {
      isSigned = true;
    },
    onTime(time) {
      until = Math.min(until, time);
    },
  });
  const key = keyOf(sharedVisit, app, blockId);
  const cache = cacheOf(services);
  const fresh = ({ parts, title }: Shareable): Rendered => ({
    html: filledIn(parts, visit),
    title,
    failed: false,
    isForm: true,
  });
  const cached = cache.get(key);
  if (cached !== undefined) {
    visit.inputs?.holdsUntil(Date.now() + cache.getRemainingTTL(key));
    return {
      value: fresh(cached),
      response: { status: null, headers: {}, redirect: null },
      logs: [],
      console: [],
      flashes: [],
      cache: 'hit',
    };
  }
  const done = await show(services, sharedVisit, app, blockId);
  if ('redirect' in done.value) {
    visit.inputs?.refuse('redirect');
    return { ...done, cache: 'none; redirect' };
  }
  const { html, title } = done.value;
  const finished = html === '' ? '' : await finish(html);
  const shareable = { parts: partsOf(finished), title, size: Math.max(1, finished.length) };
  const { status, headers, redirect } = done.response;
  const isPlain = status === null && redirect === null && Object.keys(headers).length === 0;
  // A failed rendering is not cached: it may succeed the next time. A signed address may end before the rendering does.
  const isKept = isPlain && !done.value.failed && !isSigned;
  // A form is not shown after its block has closed.
  const ttl = Math.max(1, Math.min(seconds * 1000, until - Date.now()));
  if (isKept) cache.set(key, shareable, { ttl, size: shareable.size });
  if (isKept) visit.inputs?.holdsUntil(Date.now() + ttl);
  else visit.inputs?.refuse('failed');
  const value = { ...done.value, html: filledIn(shareable.parts, visit) };
  return { ...done, value, cache: isKept ? 'miss' : 'none; failed' };
}

function cacheOf({ store }: AppServices): LRUCache<string, Shareable> {
  const cache = timed.get(store) ?? new LRUCache(TIMED);
  timed.set(store, cache);
  return cache;
}

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
