import type { Server } from 'node:http';
import { inject } from 'light-my-request';
import type { Answer, Items, Page, Pressed } from '../index';
import { attribute, type Element, elementOf, matching, type Node, parsePage } from './dom';
import { AppFailure } from './failures';
import { bodyOf, fillIn } from './form';

/** The public URL of the tested host. No name is looked up: requests go to Strapi's HTTP server without a connection. */
export const ORIGIN = 'http://apps.test';

/** Redirects that a browser follows before it gives up. */
const MAX_REDIRECTS = 20;

const redirects = new Set([301, 302, 303, 307, 308]);

export interface Sent {
  method: string;
  /** Path and query, or a URL of the host. */
  address: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Received {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** What a page shows, besides the answer that it came in. */
interface Shown extends Received {
  url: string;
  redirect: string | null;
}

/** How a page is shown to a test. */
export interface View {
  /** Only the block whose page it is, without the theme around it; all of a page that is no block's. */
  blockOnly: boolean;
  /** The page in messages: `the block "rate"`. */
  what: string;
}

/** A browser with its own cookies, which sends requests to a Strapi that listens on no port. */
export class Browser {
  private readonly cookies = new Map<string, string>();
  private token: string | undefined;

  constructor(private readonly server: Server) {}

  /** Sends one request; no redirect is followed. Rejects with AppFailure for a status of 500 or more. */
  async send({ method, address, headers = {}, body }: Sent): Promise<Received> {
    const url = new URL(address, ORIGIN);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await inject((request, response) => void this.server.emit('request', request, response), {
      method: method as 'GET',
      url: url.pathname + url.search,
      authority: url.host,
      headers: { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && { payload: body }),
    });
    for (const { name, value, maxAge } of answer.cookies) {
      if (value === '' || maxAge === 0) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const received = {
      status: answer.statusCode,
      headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
      text: answer.payload,
    };
    if (received.status >= 500) throw new AppFailure(`${method} ${url.pathname}`, received.status);
    return received;
  }

  /** Opens a page, as a link does. */
  open(address: string, view: View): Promise<Page> {
    return this.navigate({ method: 'GET', address }, view);
  }

  /** Sends a JSON request, with the CSRF token of the app at `root`. */
  async ask(root: string, { method, address, body }: Omit<Sent, 'body'> & { body?: unknown }): Promise<Answer> {
    const accept = 'application/json';
    this.token ??=
      (await this.send({ method: 'GET', address: root, headers: { accept } })).headers['x-csrf-token'] ?? '';
    const headers = {
      accept,
      'x-csrf-token': this.token,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return answerOf(await this.send({ method, address, headers, ...sent }));
  }

  /** Asks for a new CSRF token before the next JSON request: an old one is valid for some hours of the clock. */
  forgetToken(): void {
    this.token = undefined;
  }

  private async navigate(sent: Sent, view: View): Promise<Page> {
    let next = { ...sent, headers: { accept: 'text/html', ...sent.headers } };
    let redirect: string | null = null;
    for (let count = 0; ; count += 1) {
      const received = await this.send(next);
      const url = new URL(next.address, ORIGIN);
      const location = redirects.has(received.status) ? received.headers.location : undefined;
      const target = location === undefined ? null : new URL(location, url);
      if (target && redirect === null)
        redirect = target.origin === ORIGIN ? target.pathname + target.search : target.href;
      // A page of another server cannot be opened here.
      if (target?.origin !== ORIGIN) return this.page({ ...received, url: url.href, redirect }, view);
      if (count === MAX_REDIRECTS) throw new Error(`${sent.address} redirects more than ${MAX_REDIRECTS} times`);
      next = { method: 'GET', address: target.href, headers: { accept: 'text/html' } };
    }
  }

  private page(shown: Shown, view: View): Page {
    const document = parsePage(shown.text);
    const root = view.blockOnly ? ownForm(document, shown.url) : undefined;
    const { what } = view;
    const page = elementOf(root ?? document);
    const { status, headers, url, redirect } = shown;
    const submit = async (fields: Parameters<Page['submit']>[0] = {}, { button }: Pressed = {}) => {
      const form = root ?? ownForm(document, url) ?? matching(document, 'form')[0];
      if (form?.tagName !== 'form')
        throw new Error(`There is no form on ${what} (status ${status}): ${excerpt(page.text)}`);
      const request = fillIn(form, fields, button, what);
      const { type, body } = await bodyOf(request);
      const sent: Sent = {
        method: 'POST',
        address: new URL(request.action, url).href,
        headers: {
          'content-type': type,
          origin: ORIGIN,
          // A person presses the button: the least time of a public form is not asked of the test.
          'sec-fetch-site': 'same-origin',
          'sec-fetch-user': '?1',
        },
        body,
      };
      return this.navigate(sent, view);
    };
    const extra = { status, headers, url, redirect, errors: errorsIn(root ?? document), submit };
    return Object.defineProperties(page, Object.getOwnPropertyDescriptors(extra)) as Page;
  }
}

/** The form of the block or record whose page this is: it posts to the page's own address. */
function ownForm(document: Node, url: string): Element | undefined {
  const pathOf = (address: string) => new URL(address, url).pathname;
  const own = [pathOf(url), pathOf(url).replace(/\/edit$/, '')];
  return matching(document, 'form[data-apps-settings]').find((form) =>
    own.includes(pathOf(attribute(form, 'action') ?? '')),
  );
}

const excerpt = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

/** The messages beside the wrong fields of a form. */
function errorsIn(root: Node): Record<string, string> {
  return Object.fromEntries(
    matching(root, '.apps-field').flatMap((field) => {
      const [error] = matching(field, '.apps-error');
      const [control] = matching(field, '[name]');
      return error && control ? [[attribute(control, 'name') ?? '', elementOf(error).text]] : [];
    }),
  );
}

function answerOf({ status, headers, text }: Received): Answer {
  const value = headers['content-type']?.includes('json') && text !== '' ? JSON.parse(text) : text;
  if (status < 400) return { status, headers, value, error: null };
  const error = (value as { error?: Answer['error'] & Items } | null)?.error ?? null;
  return {
    status,
    headers,
    value: null,
    error: error && { name: error.name, message: error.message, details: error.details },
  };
}
