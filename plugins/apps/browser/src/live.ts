import { reload } from './ajax';
import { beside } from './home';
import { settingsOf } from './settings';

/** Blocks that wait for changes, by what they wait for. */
const waiting = new Map<HTMLFormElement, string[]>();

let source: EventSource | undefined;
let connecting: number | undefined;

/** Whether the connection has been lost since it was last open. */
let lost = false;

/** Whether somebody is at work in the block: it must not be taken from under their hands. */
function inUse(block: HTMLFormElement): boolean {
  const fields = block.querySelectorAll<HTMLInputElement>('input:not([type=hidden]), textarea');
  return [...fields].some(
    (field) =>
      field === document.activeElement ||
      field.value !== field.defaultValue ||
      (field.checked ?? false) !== (field.defaultChecked ?? false),
  );
}

/** Fetches the block again; when it is in use or nobody looks at the page, a little later. */
async function refresh(block: HTMLFormElement): Promise<void> {
  if (!block.isConnected) return;
  if (document.hidden || inUse(block)) return later(block, 2_000);
  await reload(block, new URL(block.getAttribute('action') ?? '', document.baseURI), {}, true);
  // It is still there: it could not be loaded.
  if (block.isConnected) later(block, 10_000);
}

const soon = new Map<HTMLFormElement, number>();

/** Many changes at once are one. */
function later(block: HTMLFormElement, milliseconds: number): void {
  clearTimeout(soon.get(block));
  soon.set(block, window.setTimeout(refresh, milliseconds, block));
}

/** One connection a page, for all of its blocks. */
function connect(): void {
  for (const block of waiting.keys()) if (!block.isConnected) waiting.delete(block);
  source?.close();
  source = undefined;
  const tokens = [...new Set([...waiting.values()].flat())];
  if (tokens.length === 0) return;
  const url = beside('@@apps.live');
  url.searchParams.set('t', tokens.slice(0, 300).join(','));
  const opened = new EventSource(url);
  source = opened;
  opened.onerror = () => {
    lost = true;
    // A browser gives up where the server refuses: it has too many pages waiting, of all clients or of this one.
    if (opened.readyState === EventSource.CLOSED && source === opened) {
      clearTimeout(connecting);
      connecting = window.setTimeout(connect, 30_000);
    }
  };
  // What changed while the connection was lost, nobody knows.
  source.onopen = () => {
    if (lost) for (const block of waiting.keys()) refresh(block);
    lost = false;
  };
  source.addEventListener('change', ({ data }) => {
    for (const [block, live] of waiting) if (live.includes(data)) later(block, 100);
  });
}

/** Keeps a block fresh as its definition says. */
export function keepFresh(block: HTMLFormElement): void {
  const { refresh: wanted, live = [] } = settingsOf(block);
  if (typeof wanted === 'number' && wanted > 0) later(block, wanted * 1000);
  if (wanted !== 'on-change' || live.length === 0) return;
  waiting.set(block, live);
  clearTimeout(connecting);
  connecting = window.setTimeout(connect, 50);
}
