/**
 * Reloads the page when the server has other theme files than those that the page was made of
 * (docs/decisions/development-server.md). Included by pages of the command `dev` only.
 */
import { fieldsIn, isChanged } from './changed';

const script = document.currentScript as HTMLScriptElement | null;
const address = script && new URL(script.src);

/** The version that the server had before it made this page. */
const shown = address?.searchParams.get('version');

/** A bar that reloads the page at a click, instead of losing what was entered. */
function offerReload(): void {
  if (document.getElementById('apps-reload')) return;
  const button = document.createElement('button');
  button.id = 'apps-reload';
  button.type = 'button';
  button.lang = 'en';
  button.textContent = 'Files of the theme have changed: reload (what you entered is lost)';
  button.onclick = () => location.reload();
  document.body.append(button);
}

function onVersion({ data }: MessageEvent<string>): void {
  if (data === shown) return;
  if (fieldsIn(document).some(isChanged)) offerReload();
  else location.reload();
}

/** A list in a corner: where the page and each of its blocks come from, and why they are not kept (`Server-Timing`). */
function showRenderings(): void {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  const timings = navigation?.serverTiming.filter(({ name }) => name === 'page' || name === 'block') ?? [];
  if (timings.length === 0) return;
  const list = document.createElement('details');
  list.id = 'apps-renderings';
  list.lang = 'en';
  const lines = timings.map(({ name, description, duration }) => {
    const line = document.createElement('div');
    line.textContent = name === 'page' ? `page: ${description}` : `${description} (${duration} ms)`;
    return line;
  });
  const summary = document.createElement('summary');
  summary.textContent = `Renderings: ${timings[0]?.description}`;
  list.append(summary, ...lines);
  document.body.append(list);
}

const styles = new CSSStyleSheet();
styles.replaceSync(`
.apps-excerpt{display:block;margin:.25rem 0 1rem;padding:.75rem 1rem;overflow:auto;white-space:pre;text-align:start;
font:.875rem/1.5 ui-monospace,monospace;color:#fee2e2;background:#450a0a;border-inline-start:4px solid #ef4444}
#apps-reload{position:fixed;inset:auto 1rem 1rem;z-index:2147483647;padding:.75rem 1rem;font:1rem system-ui,sans-serif;
color:#fff;background:#7f1d1d;border:0;border-radius:6px;cursor:pointer}
#apps-renderings{position:fixed;inset:auto auto 1rem 1rem;z-index:2147483646;max-height:50vh;overflow:auto;padding:.375rem .75rem;
font:.8125rem/1.6 ui-monospace,monospace;text-align:start;color:#f8fafc;background:#1e293b;border-radius:6px}
#apps-renderings summary{cursor:pointer}`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, styles];

showRenderings();
if (address) new EventSource(address.pathname.replace(/\.js$/, '')).addEventListener('version', onVersion);
