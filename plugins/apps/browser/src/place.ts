import { Failure, type Loaded } from './fetch-block';
import { followChange } from './history';
import { words } from './home';
import { blocksIn, settingsOf, showLog } from './settings';

const hidden =
  'position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap';

let region: HTMLElement | undefined;

/** Announces a change to screen readers, without moving the focus. */
function announce(text: string): void {
  const status = region?.isConnected ? region : document.createElement('div');
  if (status !== region) {
    status.setAttribute('role', 'status');
    status.style.cssText = hidden;
    document.body.append(status);
    region = status;
  }
  status.textContent = '';
  // Screen readers do not read out a text that the element has from the beginning, or had before.
  setTimeout(() => {
    status.textContent = text;
  }, 50);
}

/** Called once for every block of the page, also for those that come later. */
type BlockHandler = (block: HTMLFormElement) => void;

const handlers: BlockHandler[] = [];

export const onBlock = (handler: BlockHandler): void => {
  handlers.push(handler);
};

const seen = new WeakSet<Element>();

/** Handles each new block in a part of the page once: shows its log, and dispatches `apps:load`. */
export function setUpBlocks(root: ParentNode): void {
  for (const block of blocksIn(root)) {
    if (seen.has(block)) continue;
    seen.add(block);
    const settings = settingsOf(block);
    showLog(settings);
    for (const one of handlers) one(block);
    const detail = { app: settings.app, block: settings.block };
    block.dispatchEvent(new CustomEvent('apps:load', { bubbles: true, detail }));
  }
}

/** A selector that finds an element again in a new rendering. */
function selectorOf(element: Element | null): string | null {
  if (!element) return null;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const name = ['name', 'href'].find((one) => element.getAttribute(one));
  if (!name) return null;
  // The buttons of several rows have one name, and so have the choices of a field.
  const isOneOfSeveral = element.matches('button, [type=submit], [type=radio], [type=checkbox]');
  const parts = (isOneOfSeveral ? [name, 'value', 'formaction'] : [name]).map((one) => {
    const value = element.getAttribute(one);
    return value === null ? `:not([${one}])` : `[${one}="${CSS.escape(value)}"]`;
  });
  return element.localName + parts.join('');
}

/**
 * Replaces a block by what was loaded, or puts it into an element. Focus, the cursor in a field and the scroll position
 * stay; the first wrong field gets the focus.
 */
export function put(old: Element, loaded: Loaded, inside = false, quiet = false): void {
  const { content, invalid, marked } = loaded;
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const focusSelector = selectorOf(active);
  const selection =
    active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement ? rangeOf(active) : null;
  const fresh = [...content.children];
  const { scrollX, scrollY } = window;
  if (inside) old.replaceChildren(content);
  else old.replaceWith(content);
  for (const element of fresh) setUpBlocks(element);
  followChange(old, fresh, loaded);
  const find = (selector: string) => fresh.map((element) => element.querySelector<HTMLElement>(selector)).find(Boolean);
  const named = invalid || marked ? find('[autofocus]') : undefined;
  const wrong = named ?? (invalid ? find('[aria-invalid=true]') : undefined);
  const again =
    wrong ?? (focusSelector ? find(focusSelector) : undefined) ?? (active ? focusable(fresh[0]) : undefined);
  again?.focus({ preventScroll: !wrong });
  if (selection && again && !wrong) (again as HTMLInputElement).setSelectionRange?.(...selection);
  if (!wrong) scrollTo(scrollX, scrollY);
  if (!quiet) announce(invalid ? words.invalid : words.updated);
}

function rangeOf({ selectionStart, selectionEnd }: HTMLInputElement | HTMLTextAreaElement): [number, number] | null {
  return selectionStart === null ? null : [selectionStart, selectionEnd ?? selectionStart];
}

/** The new rendering itself, made focusable, so that the focus does not go to the top of the page. */
function focusable(element: Element | undefined): HTMLElement | undefined {
  if (!(element instanceof HTMLElement)) return undefined;
  element.tabIndex = -1;
  return element;
}

/** Shows a failure at the beginning of an element; what a visitor has entered stays. */
function showFailure(element: Element, error: unknown): void {
  element.querySelector(':scope > .apps-error')?.remove();
  const mark = document.createElement('p');
  mark.className = 'apps-error';
  mark.setAttribute('role', 'alert');
  mark.textContent = error instanceof Failure ? error.message : words.failed;
  element.prepend(mark);
}

/** The latest work for parts of the page. */
const latest = new WeakMap<Element, unknown>();

/**
 * Marks a part of the page as being loaded, while `work` lasts; shows its failure. Nothing else is loaded meanwhile, unless the mark is
 * taken away.
 * @param work gets whether something else has taken its place then
 */
export async function busy(element: Element, work: (isOver: () => boolean) => Promise<void>): Promise<void> {
  if (element.matches('[aria-busy=true]')) return;
  element.setAttribute('aria-busy', 'true');
  latest.set(element, work);
  const isOver = () => latest.get(element) !== work;
  await attempt(element, () => work(isOver));
  if (!isOver()) element.removeAttribute('aria-busy');
}

/** Does some work for a part of the page, and shows its failure there. */
export async function attempt(element: Element, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    showFailure(element, error);
    if (!(error instanceof Failure)) console.error(error);
  }
}
