import { isHome, words } from './home';
import { showLogs } from './settings';

/** Why a block could not be loaded, in words for the visitor. */
export class Failure extends Error {}

export interface Loaded {
  /** What the answer's body holds, not yet in the page: its scripts never run. */
  content: DocumentFragment;
  /** Fields were wrong (422): the form comes back with what was entered. */
  invalid: boolean;
}

/**
 * Fetches a block's form. Only from where this script comes from, and only HTML; credentials go along where the page is
 * of the same origin. An answer that is a page of its own (a redirect led to it) takes the place of this page: null.
 */
export async function fetchBlock(url: URL, init: RequestInit = {}): Promise<Loaded | null> {
  if (!isHome(url)) throw new Failure(words.failed);
  const response = await fetch(url, { ...init, headers: { Accept: 'text/html+fragment' } }).catch(() => null);
  if (!response || !isHome(new URL(response.url))) throw new Failure(words.failed);
  if (!/^text\/html\b/i.test(response.headers.get('Content-Type') ?? '')) throw new Failure(words.failed);
  const html = await response.text();
  const invalid = response.status === 422;
  if (!response.ok && !invalid) throw new Failure(explained(html));
  if (/^\s*<!doctype/i.test(html)) {
    location.assign(response.url);
    return null;
  }
  return { content: parsed(html), invalid };
}

/** Inert until it is put into the page; scripts in it stay inert. */
function parsed(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}

/** The message of the server's error page, as text; its log entries go to the console. */
function explained(html: string): string {
  const page = parsed(html);
  showLogs(page);
  const reason = page.querySelector('h1 + p')?.textContent;
  return reason ? `${words.failed}: ${reason}` : words.failed;
}
