import { announce } from './announce';
import { Failure, type Loaded } from './fetch-block';
import { words } from './home';
import { blocksIn, settingsOf, showLog } from './settings';

/** Told of every block that is in the page for the first time, and of those that come later. */
type Welcome = (block: HTMLFormElement) => void;

const welcomes: Welcome[] = [];

export const onBlock = (welcome: Welcome): void => {
  welcomes.push(welcome);
};

const met = new WeakSet<Element>();

/** Takes notice of the blocks in a part of the page, once: shows their logs, and tells the page with `apps:load`. */
export function welcome(root: ParentNode): void {
  for (const block of blocksIn(root)) {
    if (met.has(block)) continue;
    met.add(block);
    const settings = settingsOf(block);
    showLog(settings);
    for (const one of welcomes) one(block);
    const detail = { app: settings.app, block: settings.block };
    block.dispatchEvent(new CustomEvent('apps:load', { bubbles: true, detail }));
  }
}

/** How to find an element again in a new rendering. */
function traceOf(element: Element | null): string | null {
  if (!element) return null;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const tag = element.localName;
  for (const name of ['name', 'href']) {
    const value = element.getAttribute(name);
    if (value) return `${tag}[${name}=${JSON.stringify(value)}]`;
  }
  return null;
}

/**
 * Puts what was loaded in the place of a block, or into an element. Focus, the cursor in a field and the scroll position
 * stay; the first wrong field gets the focus.
 */
export function put(old: Element, { content, invalid }: Loaded, inside = false, quiet = false): void {
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const trace = traceOf(active);
  const selection =
    active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement ? rangeOf(active) : null;
  const fresh = [...content.children];
  const { scrollX, scrollY } = window;
  if (inside) old.replaceChildren(content);
  else old.replaceWith(content);
  for (const element of fresh) welcome(element);
  const find = (selector: string) => fresh.map((element) => element.querySelector<HTMLElement>(selector)).find(Boolean);
  const wrong = invalid ? find('[aria-invalid=true]') : undefined;
  const again = wrong ?? (trace ? find(trace) : undefined) ?? (active ? focusable(fresh[0]) : undefined);
  again?.focus({ preventScroll: !wrong });
  if (selection && again && !wrong) (again as HTMLInputElement).setSelectionRange?.(...selection);
  if (!wrong) scrollTo(scrollX, scrollY);
  if (!quiet) announce(invalid ? words.invalid : words.updated);
}

function rangeOf({ selectionStart, selectionEnd }: HTMLInputElement | HTMLTextAreaElement): [number, number] | null {
  return selectionStart === null ? null : [selectionStart, selectionEnd ?? selectionStart];
}

/** The new rendering itself, so that who was in the old one does not find themselves at the top of the page. */
function focusable(element: Element | undefined): HTMLElement | undefined {
  if (!(element instanceof HTMLElement)) return undefined;
  element.tabIndex = -1;
  return element;
}

/** Shows that something failed where it was expected; what a visitor has entered stays. */
export function showFailure(place: Element, error: unknown): void {
  place.querySelector(':scope > .apps-error')?.remove();
  const mark = document.createElement('p');
  mark.className = 'apps-error';
  mark.setAttribute('role', 'alert');
  mark.textContent = error instanceof Failure ? error.message : words.failed;
  place.prepend(mark);
}

/** Marks a part of the page as being loaded, while `work` lasts; shows its failure. */
export async function busy(place: Element, work: () => Promise<void>): Promise<void> {
  if (place.getAttribute('aria-busy') === 'true') return;
  place.setAttribute('aria-busy', 'true');
  try {
    await work();
  } catch (error) {
    showFailure(place, error);
    if (!(error instanceof Failure)) console.error(error);
  } finally {
    place.removeAttribute('aria-busy');
  }
}
