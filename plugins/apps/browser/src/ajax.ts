import { fetchBlock } from './fetch-block';
import { isHome } from './home';
import { busy, put } from './place';
import { BLOCK } from './settings';

/** Loads something in the place of a block. */
export function reload(block: Element, url: URL, init?: RequestInit, quiet = false): Promise<void> {
  return busy(block, async () => {
    const loaded = await fetchBlock(url, init);
    if (loaded && block.isConnected) put(block, loaded, false, quiet);
  });
}

/** Blocks with `target: ajax` are submitted in place; a token never leaves for another origin, whoever asks for it. */
export function onSubmit(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement;
  if (!form.matches(BLOCK)) return;
  const button = event.submitter as HTMLButtonElement | null;
  const url = new URL(button?.getAttribute('formaction') ?? form.getAttribute('action') ?? '', document.baseURI);
  if (!isHome(url)) {
    for (const token of form.querySelectorAll<HTMLInputElement>('input[name=_csrf]')) token.disabled = true;
    return;
  }
  if (event.defaultPrevented || !form.classList.contains('apps-target-ajax')) return;
  event.preventDefault();
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  if (button?.name) body.append(button.name, button.value);
  reload(form, url, { method: 'POST', body });
}

const plainClick = (event: MouseEvent) =>
  !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** The link or button of a selector that a plain click was meant for. */
export function clicked(event: MouseEvent, selector: string): HTMLElement | null {
  return plainClick(event) && event.target instanceof Element ? event.target.closest<HTMLElement>(selector) : null;
}

/** Links with `target="ajax"` load what they lead to in the place of their block. */
export function onLink(event: MouseEvent): void {
  const link = clicked(event, 'a[target=ajax]') as HTMLAnchorElement | null;
  const block = link?.closest(BLOCK);
  if (!link || !block) return;
  const url = new URL(link.href);
  if (!isHome(url)) return;
  event.preventDefault();
  reload(block, url);
}
