import { reload } from './ajax';
import { siblingUrl } from './home';
import { addressIn, settingsOf } from './settings';

/** Blocks that wait for changes, with the tokens of their topics. */
const waiting = new Map<HTMLFormElement, string[]>();

let source: EventSource | undefined;
let connecting: number | undefined;

/** Whether the connection has been lost since it was last open. */
let lost = false;

/** Whether the visitor is filling in the block, which must not be replaced then. */
function inUse(block: HTMLFormElement): boolean {
  const fields = block.querySelectorAll<HTMLInputElement>('input:not([type=hidden]), textarea');
  return [...fields].some(
    (field) =>
      field === document.activeElement ||
      field.value !== field.defaultValue ||
      (field.checked ?? false) !== (field.defaultChecked ?? false),
  );
}

/** Fetches the block again; later when it is in use or the page is hidden. */
async function refresh(block: HTMLFormElement): Promise<void> {
  if (!block.isConnected) return;
  if (document.hidden || inUse(block)) return later(block, 2_000);
  await reload(block, addressIn(block.getAttribute('action')), { quiet: true });
  // Still connected: the block could not be loaded.
  if (block.isConnected) later(block, 10_000);
}

const timers = new Map<HTMLFormElement, number>();

/** Debounces: several changes at once cause one request. */
function later(block: HTMLFormElement, milliseconds: number): void {
  clearTimeout(timers.get(block));
  timers.set(block, window.setTimeout(refresh, milliseconds, block));
}

/**
 * One connection a page, for all of its blocks, while the page is visible: over HTTP/1.1 a browser opens six connections to a
 * site, and the pages of other tabs need them too.
 */
function connect(): void {
  for (const block of waiting.keys()) if (!block.isConnected) waiting.delete(block);
  source?.close();
  source = undefined;
  if (document.hidden) {
    lost = true;
    return;
  }
  const tokens = [...new Set([...waiting.values()].flat())];
  if (tokens.length === 0) return;
  const url = siblingUrl('@@apps.live');
  url.searchParams.set('t', tokens.slice(0, 300).join(','));
  const opened = new EventSource(url);
  source = opened;
  opened.onerror = () => {
    lost = true;
    // A browser does not reconnect after a refusal: the server has too many open connections, of all clients or of this one.
    if (opened.readyState === EventSource.CLOSED && source === opened) {
      clearTimeout(connecting);
      connecting = window.setTimeout(connect, 30_000);
    }
  };
  // Changes while the connection was lost are not known.
  source.onopen = () => {
    if (lost) for (const block of waiting.keys()) refresh(block);
    lost = false;
  };
  source.addEventListener('change', ({ data }) => {
    for (const [block, live] of waiting) if (live.includes(data)) later(block, 100);
  });
}

/** Connects when the page is shown, and ends the connection when it is hidden. */
export function watchVisibility(): void {
  document.addEventListener('visibilitychange', connect);
}

/** Refreshes a block as its definition says. */
export function keepFresh(block: HTMLFormElement): void {
  const { refresh: wanted, live = [] } = settingsOf(block);
  if (typeof wanted === 'number' && wanted > 0) later(block, wanted * 1000);
  if (wanted !== 'on-change' || live.length === 0) return;
  waiting.set(block, live);
  clearTimeout(connecting);
  connecting = window.setTimeout(connect, 50);
}
