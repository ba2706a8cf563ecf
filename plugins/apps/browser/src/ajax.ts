import { type BlockRequest, fetchBlock, type Loaded, LoginNeeded } from './fetch-block';
import { addressOf, isShared, remember } from './history';
import { isOwnOrigin, words } from './home';
import { attempt, busy, put } from './place';
import { waitsForProof } from './proof';
import { addressIn, BLOCK, shownAt } from './settings';

interface Reload {
  init?: BlockRequest;
  /** Screen readers do not announce it. */
  quiet?: boolean;
  /** The address of what is loaded, for the address bar. */
  shared?: URL | null;
  /** Called when the visitor must log in; by default a message says so. */
  login?: () => void;
}

/**
 * Loads something that replaces a block. While it loads, nothing else is loaded into the block; one that may turn out to be unwanted
 * stands in the way of nothing.
 */
export function reload(block: HTMLFormElement, url: URL, { init, quiet, shared, login }: Reload = {}): Promise<void> {
  return (init?.isUnwanted ? attempt : busy)(block, async (isUnwanted = init?.isUnwanted) => {
    let loaded: Loaded | null;
    try {
      loaded = await fetchBlock(url, { ...init, isUnwanted });
    } catch (error) {
      if (login && error instanceof LoginNeeded) return login();
      throw error;
    }
    if (!loaded || !block.isConnected || (quiet && sent.has(block))) return;
    if (shared && !loaded.invalid) remember(block, loaded.redirect ? new URL(loaded.redirect) : shared);
    put(block, { ...loaded, marked: init?.stays }, false, quiet);
  });
}

/** Shows a form with what was entered in it before; nothing is carried out. */
export function showAgain(block: HTMLFormElement, fields: URLSearchParams): void {
  const url = shownAt(block);
  if (isOwnOrigin(url)) reload(block, url, { init: { method: 'POST', body: fields, stays: true }, quiet: true });
}

/** Forms that were sent as pages a moment ago, with the button, until their answer replaces the page. */
const sent = new Map<HTMLFormElement, HTMLElement | null>();

/** Milliseconds after which a form can be sent again although nothing has replaced its page, as after a download. */
const SENT = 10_000;

/** A double click, or an Enter key that is held, sends a form once. Another button is meant. */
function sendOnce(event: SubmitEvent, form: HTMLFormElement): void {
  if (sent.get(form) === event.submitter) event.preventDefault();
  sent.set(form, event.submitter);
  setTimeout(onPageShow, SENT);
}

/** The browser shows a page that it has kept: its forms can be sent again. */
export const onPageShow = (): void => sent.clear();

/** Blocks with `target: ajax` are submitted in place; a token is never sent to another origin. */
export function onSubmit(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement;
  if (!form.matches(BLOCK)) return;
  const button = event.submitter as HTMLButtonElement | null;
  const url = addressIn(button?.getAttribute('formaction'), form.getAttribute('action'));
  if (!isOwnOrigin(url)) {
    for (const token of form.querySelectorAll<HTMLInputElement>('input[name=_csrf]')) token.disabled = true;
    return;
  }
  if (waitsForProof(event)) return;
  if (!event.defaultPrevented && !isConfirmed(form, button)) event.preventDefault();
  // The answer to a button that adds or removes fields is the form again, wherever it is sent.
  const stays = button?.dataset.appsStay !== undefined;
  const isAjax = stays || form.classList.contains('apps-target-ajax');
  const data = new FormData(form);
  const hasFiles = [...data.values()].some((value) => value instanceof File && value.size > 0);
  if (event.defaultPrevented) return;
  if (!(isAjax || hasFiles)) return sendOnce(event, form);
  event.preventDefault();
  // A person has sent the form, so that the time for which it was shown does not matter.
  if (event.isTrusted) data.delete('_shown');
  const login = url.origin === location.origin ? () => sendAsPage(form, button, url) : undefined;
  const inPlace = isAjax && !button?.getAttribute('formaction') ? besideFields(form) : url;
  if (hasFiles) {
    if (button?.name) data.append(button.name, button.value);
    return sendFiles(form, inPlace, { method: 'POST', body: data, follow: !isAjax, stays }, login);
  }
  const body = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === 'string') body.append(name, value);
  const shared = isShared(button ?? form) ? addressOf(url, body) : null;
  if (button?.name) body.append(button.name, button.value);
  reload(form, shared ?? inPlace, { init: { method: 'POST', body, stays }, shared, login });
}

/**
 * The answer is shown in place of the block: with the query that it has, such as that of `include`. What the form has a field for is not a
 * part of it: a box that is no longer ticked sends nothing.
 */
function besideFields(form: HTMLFormElement): URL {
  const url = new URL(shownAt(form));
  for (const field of form.querySelectorAll('[name]')) url.searchParams.delete(field.getAttribute('name') ?? '');
  return url;
}

/** The Enter key in a field that looks for something presses the button beside it, not the one that saves. */
export function onSearchKey(event: KeyboardEvent): void {
  const field = event.target;
  if (event.key !== 'Enter' || event.isComposing || !(field instanceof HTMLInputElement)) return;
  const button = field.closest('.apps-reference-search')?.querySelector('button');
  if (!button) return;
  event.preventDefault();
  button.click();
}

function addField(form: HTMLFormElement, name: string, value: string): HTMLInputElement {
  const field = Object.assign(document.createElement('input'), { type: 'hidden', name, value });
  form.append(field);
  return field;
}

/** Sends a form without the script: the answer is a login form that keeps what was entered. */
function sendAsPage(form: HTMLFormElement, button: HTMLButtonElement | null, url: URL): void {
  const pressed = addField(form, button?.name ?? '', button?.value ?? '');
  form.setAttribute('action', url.href);
  // A field may be called "submit".
  HTMLFormElement.prototype.submit.call(form);
  pressed.remove();
}

/** Sends a form with files, with a bar that shows how much of it is sent. */
function sendFiles(form: HTMLFormElement, url: URL, init: BlockRequest, login?: () => void): void {
  const bar = document.createElement('progress');
  bar.className = 'apps-progress';
  bar.value = 0;
  bar.setAttribute('aria-label', words.sending);
  form.append(bar);
  const onProgress = (part: number) => {
    bar.value = part;
  };
  reload(form, url, { init: { ...init, onProgress }, login }).finally(() => bar.remove());
}

/** Asks the question of an action's button, if it has one; the form tells the server that it was answered. */
function isConfirmed(form: HTMLFormElement, button: HTMLButtonElement | null): boolean {
  const question = button?.dataset.appsConfirm;
  if (!button || !question) return true;
  if (!confirm(question)) return false;
  addField(form, '_confirm', button.name.replace(/^action\./, ''));
  return true;
}

const plainClick = (event: MouseEvent) =>
  !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** The clicked link or button that matches a selector; only for plain clicks. */
export function clicked(event: MouseEvent, selector: string): HTMLElement | null {
  return plainClick(event) && event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
}

/** Links with `target="ajax"` replace their block by what they lead to. */
export function onLink(event: MouseEvent): void {
  const link = clicked(event, 'a[target=ajax]') as HTMLAnchorElement | null;
  const block = link?.closest<HTMLFormElement>(BLOCK);
  if (!link || !block) return;
  const url = new URL(link.href);
  if (!isOwnOrigin(url)) return;
  event.preventDefault();
  reload(block, url, { shared: isShared(link) ? url : null });
}
