import { clicked } from './ajax';
import { fetchBlock } from './fetch-block';
import { words } from './home';
import { busy, put } from './place';
import { addressIn, BLOCK, elementsIn } from './settings';

const LOADER = '[data-apps-load]';
const MODAL = '[data-apps-modal]';

/** Loads the block of `data-apps-load` into `data-apps-target`, or into the element itself (a link is replaced). */
function load(loader: HTMLElement): Promise<void> {
  const selector = loader.dataset.appsTarget;
  const target = selector ? document.querySelector(selector) : loader;
  if (!target) return Promise.resolve();
  const inside = selector !== undefined || !loader.matches('a, button');
  return busy(target, async () => {
    const loaded = await fetchBlock(addressIn(loader.dataset.appsLoad, loader.getAttribute('href')));
    if (loaded && target.isConnected) put(target, loaded, inside);
  });
}

/** Opens a block in a dialog: it keeps the focus, Escape closes it, and the focus goes back to where it was. */
async function openModal(opener: HTMLElement): Promise<void> {
  const dialog = document.createElement('dialog');
  dialog.className = 'apps-modal';
  dialog.setAttribute('aria-label', opener.getAttribute('aria-label') ?? opener.textContent?.trim() ?? '');
  const close = document.createElement('button');
  close.type = 'button';
  close.className = 'apps-modal-close';
  close.setAttribute('aria-label', words.close);
  close.textContent = '×';
  close.onclick = () => dialog.close();
  const content = document.createElement('div');
  content.className = 'apps-modal-content';
  dialog.append(close, content);
  dialog.onclose = () => {
    dialog.remove();
    opener.focus();
  };
  document.body.append(dialog);
  dialog.showModal();
  await busy(content, async () => {
    const loaded = await fetchBlock(addressIn(opener.dataset.appsModal, opener.getAttribute('href')));
    if (loaded) put(content, loaded, true, true);
  });
}

/** Clicks on openers of dialogs, and on loaders that wait for one. */
export function onOpen(event: MouseEvent): void {
  const opener = clicked(event, `${MODAL}, ${LOADER}`);
  if (!opener) return;
  const isModal = opener.matches(MODAL);
  if (!isModal && (triggerOf(opener) !== 'click' || isInBlock(event, opener))) return;
  event.preventDefault();
  if (isModal) openModal(opener);
  else load(opener);
}

/** Whether an event is meant for a block that a loader holds already. */
function isInBlock({ target }: Event, loader: HTMLElement): boolean {
  const block = (target as Element).closest(BLOCK);
  return block !== null && loader.contains(block);
}

/** `data-apps-trigger`; without it a link or button waits for a click, anything else loads at once. */
const triggerOf = (loader: HTMLElement): string =>
  loader.dataset.appsTrigger || (loader.matches('a, button') ? 'click' : 'immediate');

function loadWhenVisible(loader: HTMLElement): void {
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    load(loader);
  }).observe(loader);
}

const seen = new WeakSet<Element>();

/** Sets up the loaders in a part of the page, each once; any other trigger is the name of an event. */
export function setUpLoaders(root: ParentNode): void {
  for (const loader of elementsIn(root, LOADER)) {
    if (seen.has(loader)) continue;
    seen.add(loader);
    const trigger = triggerOf(loader);
    if (trigger === 'immediate') load(loader);
    else if (trigger === 'visible') loadWhenVisible(loader);
    else if (trigger !== 'click') loader.addEventListener(trigger, (event) => isInBlock(event, loader) || load(loader));
  }
}
