import { isOwnOrigin, words } from './home';
import { BLOCK, showLogs } from './settings';

/** The reason for which a block could not be loaded, as a text for the visitor. */
export class Failure extends Error {}

/** The visitor must log in first. */
export class LoginNeeded extends Failure {}

export interface Loaded {
  /** Nodes of the answer's body, not yet in the page: its scripts never run. */
  content: DocumentFragment;
  /** The form was refused (422, 409 for a record that has changed, 429 for too many mails, or 403 for an old token): the answer is the form with the entered values. */
  invalid: boolean;
  /** The address that a redirect led to, else null. */
  redirect: string | null;
  /** The answer says which element gets the focus. */
  marked?: boolean | undefined;
}

/**
 * Fetches a block's form. Only from where this script comes from, and only HTML; credentials go along where the page is
 * of the same origin. Null for an answer that is unwanted, and for one that replaces this page: a page of its own or a file, to which a
 * redirect led, an error to which that of a sent form led, or the address of another origin.
 */
export async function fetchBlock(url: URL, init: BlockRequest = {}): Promise<Loaded | null> {
  if (!isOwnOrigin(url)) throw new Failure(words.failed);
  const response = await (init.body instanceof FormData ? upload : load)(url, init).catch(() => null);
  if (init.isUnwanted?.()) return null;
  if (!response || !isOwnOrigin(new URL(response.url))) throw new Failure(words.failed);
  const { html, status, redirected, elsewhere } = response;
  const isHtml = /^text\/html\b/i.test(response.type);
  const content = parsed(html);
  const invalid = [403, 409, 422, 429].includes(status) && content.querySelector(BLOCK) !== null;
  // An error behind the redirect of a form: it was carried out, and would be carried out twice if it were sent again.
  const isDone = redirected && (status > 299 ? init.body && !invalid : !isHtml);
  if (isDone || (elsewhere && status === 200)) return leave(elsewhere ?? response.url);
  if (!isHtml) throw new Failure(words.failed);
  const lacksToken = status === 403 && content.querySelector('[data-error=CsrfError]');
  if (status === 401 || (lacksToken && !invalid)) throw new LoginNeeded(explained(html));
  if (status > 299 && !invalid) throw new Failure(explained(html));
  if (/^\s*<!doctype/i.test(html) || (init.follow && redirected)) return leave(response.url);
  return { content, invalid, redirect: redirected ? response.url : null };
}

/** Shows another page. */
function leave(address: string): null {
  location.assign(address);
  return null;
}

/** A request for a block. */
export interface BlockRequest extends RequestInit {
  /** A redirect replaces this page. */
  follow?: boolean;
  /** The answer is the form again, with other fields. */
  stays?: boolean;
  /** Asked when the answer is there: whether the visitor has made it useless meanwhile, so that it is dropped. */
  isUnwanted?: () => boolean;
  /** Called with the part of a form with files that was sent, from 0 to 1. */
  onProgress?: (part: number) => void;
}

interface Answer {
  url: string;
  redirected: boolean;
  status: number;
  type: string;
  /** The address of another origin that is to be shown: a script could not follow a redirect to it. */
  elsewhere: string | null;
  html: string;
}

const headers = { Accept: 'text/html+fragment' };

async function load(url: URL, init: BlockRequest): Promise<Answer> {
  const response = await fetch(url, { ...init, headers });
  return {
    url: response.url,
    redirected: response.redirected,
    status: response.status,
    type: response.headers.get('Content-Type') ?? '',
    elsewhere: response.headers.get('Location'),
    html: await response.text(),
  };
}

/** Sends a form with files; `fetch` does not tell how much of them is sent. */
function upload(url: URL, { body, follow, onProgress }: BlockRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', url);
    // The page that a redirect leads to is loaded once more, and has to show its messages then.
    request.setRequestHeader('Accept', follow ? `${headers.Accept}, text/html+follow` : headers.Accept);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0);
    request.onerror = reject;
    request.onload = () =>
      resolve({
        url: request.responseURL,
        redirected: request.responseURL !== url.href.replace(/#.*/, ''),
        status: request.status,
        type: request.getResponseHeader('Content-Type') ?? '',
        elsewhere: request.getResponseHeader('Location'),
        html: request.responseText,
      });
    request.send(body as FormData);
  });
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
