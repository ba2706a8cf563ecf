import { addressIn, blocksIn, settingsOf } from './settings';

/** What an entry of the browser's history shows in a block. */
interface Shown {
  app: string | undefined;
  block: string | undefined;
  url: string;
}

/** Fields that are not part of what is looked for: the token and the buttons. */
const OTHER = /^(?:_|action\.)/;

/** Whether the address of what a link or button shows is to be shared. */
export const isShared = (origin: Element): boolean => origin.closest('[data-apps-history]') !== null;

/** The address at which a form's block shows what its fields say. */
export function addressOf(action: URL, fields: URLSearchParams): URL {
  const url = new URL(action);
  for (const [name, value] of fields) if (value !== '' && !OTHER.test(name)) url.searchParams.append(name, value);
  return url;
}

/** Puts the address of what a block is about to show into the address bar. Back leads to what it shows now. */
export function remember(block: HTMLFormElement, next: URL): void {
  if (next.origin !== location.origin) return;
  const { app, block: id } = settingsOf(block);
  const entry = (url: string): { apps: Shown } => ({ apps: { app, block: id, url } });
  const own = addressIn(block.getAttribute('action'));
  if (!history.state?.apps) {
    const now = own.pathname === location.pathname ? location.href : own.href;
    history.replaceState({ ...history.state, ...entry(now) }, '');
  }
  if (next.href !== location.href) history.pushState(entry(next.href), '', next);
}

/** Shows in its block what an entry of the history stands for, when the visitor goes back or forward. */
export function watchHistory(show: (block: HTMLFormElement, url: URL) => void): void {
  addEventListener('popstate', ({ state }) => {
    const shown = (state as { apps?: Shown } | null)?.apps;
    const block = blocksIn(document).find((one) => {
      const { app, block: id } = settingsOf(one);
      return app === shown?.app && id === shown?.block;
    });
    if (shown && block) show(block, new URL(shown.url));
  });
}
