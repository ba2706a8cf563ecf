/**
 * The second part of the visitor's script (docs/reference/embedding.md#live-and-shared-blocks), for pages with blocks that refresh
 * themselves: the first part (keep-fresh.ts) loads it.
 */
import { fieldsIn, isChanged } from '../changed';
import type { FromMain } from '../keep-fresh';
import { settingsOf, shownAt } from '../settings';
import { createShare } from './share';

const script = document.currentScript as (HTMLScriptElement & { appsMain?: FromMain }) | null;
const main = script?.appsMain;

/** Milliseconds for which the server knows what has changed; a block whose changes are not known for longer is fetched again. */
const KNOWN = 50_000;

/** Milliseconds: between a change and the request; from a rendering to the next; until a block that is in use is tried again. */
const times = { change: 100, apart: 1_000, inUse: 2_000, failed: 10_000 };

/** A block that waits for changes. */
interface Waiting {
  live: string[];
  any: string[] | undefined;
  /** Up to when its changes are known, and when that was. */
  since: string | undefined;
  at: number;
  /** When it came, and when it was asked for, if by this script. */
  born: number;
  asked: number | undefined;
  /** The version of the first list of this tab that it is in. */
  version: number;
}

const waiting = new Map<HTMLFormElement, Waiting>();

/** When blocks were asked for that have not come yet, by their addresses. */
const asked = new Map<string, number>();

/** When a block is fetched, by `Date.now()`. */
const due = new Map<HTMLFormElement, { at: number; timer: number }>();

let version = 0;
let planned: number | undefined;

/**
 * Whether the block must not be replaced now: the visitor fills it in, presses something in it, or waits for the answer to that.
 */
const inUse = (block: HTMLFormElement): boolean =>
  block.matches(':active, [aria-busy=true]') ||
  fieldsIn(block).some((field) => field === document.activeElement || isChanged(field));

/** Blocks that are fetched now. */
const fetching = new Set<HTMLFormElement>();

/**
 * Fetches the block again; later when it is in use or the page is hidden. It is looked at once more when the answer is there: the visitor
 * can use the block meanwhile.
 */
async function refresh(block: HTMLFormElement): Promise<void> {
  due.delete(block);
  if (!block.isConnected) return;
  if (document.hidden || fetching.has(block) || inUse(block)) return later(block, times.inUse);
  const url = shownAt(block);
  asked.set(url.href, Date.now());
  fetching.add(block);
  await main?.reload(block, url, { quiet: true, init: { isUnwanted: () => inUse(block) } });
  fetching.delete(block);
  asked.delete(url.href);
  // Still connected: the block is in use, or it could not be loaded.
  if (block.isConnected) later(block, inUse(block) ? times.inUse : times.failed);
}

/** Several changes at once cause one request; a later one does not delay it. */
function later(block: HTMLFormElement, milliseconds: number): void {
  const at = Date.now() + milliseconds;
  const known = due.get(block);
  if (known && known.at <= at) return;
  clearTimeout(known?.timer);
  due.set(block, { at, timer: window.setTimeout(refresh, milliseconds, block) });
}

const share =
  main &&
  createShare({
    url: new URL('@@apps.live', script?.src),
    changed(token) {
      for (const [block, { live, any, born }] of waiting)
        if (live.includes(token) || any?.includes(token))
          later(block, Math.max(times.change, born + times.apart - Date.now()));
    },
    known(at, upTo) {
      for (const one of waiting.values()) if (one.version <= upTo) Object.assign(one, { since: at, at: Date.now() });
    },
  });

/** Says what this tab waits for: nothing while it is hidden. */
function update(): void {
  version += 1;
  for (const [block, one] of waiting) {
    if (!block.isConnected) waiting.delete(block);
    else if (!document.hidden && Date.now() - one.at > KNOWN) {
      // What was missed is not known: the block comes again, with a moment of its own.
      waiting.delete(block);
      later(block, 0);
    }
  }
  const needs = [...waiting.values()].map(({ live, any, since, asked }) => ({ live, any, since, asked }));
  share?.set(version, document.hidden ? [] : needs);
}

function plan(): void {
  clearTimeout(planned);
  planned = window.setTimeout(update, 50);
}

/** Refreshes a block as its definition says. */
function keepFresh(block: HTMLFormElement): void {
  const { refresh: wanted, live = [], any, since } = settingsOf(block);
  if (typeof wanted === 'number' && wanted > 0) later(block, wanted * 1000);
  if (wanted !== 'on-change' || live.length === 0) return;
  const now = Date.now();
  const times = { at: now, born: now, asked: asked.get(shownAt(block).href) };
  waiting.set(block, { live, any, since, ...times, version: version + 1 });
  plan();
}

if (main) {
  const blocks = main.blocks as HTMLFormElement[];
  main.blocks = { push: keepFresh };
  blocks.forEach(keepFresh);
  document.addEventListener('visibilitychange', update);
  addEventListener('pageshow', ({ persisted }) => persisted && update());
  addEventListener('pagehide', () => share?.set(++version, []));
}
