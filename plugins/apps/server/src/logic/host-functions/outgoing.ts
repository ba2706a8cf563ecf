import { z } from 'zod';
import { type Items, isItems, type Json } from '../../../../shared/json';
import * as is from './row';
import { returns, row } from './row';

const isBody = (value: unknown) => typeof value === 'string' || Array.isArray(value) || isItems(value);

/** A text, or what is sent as JSON. */
const body = z
  .custom<string | Json[] | Items>(isBody, 'a string, an object or a list')
  .describe('a string, an object or a list');

/** How a web service is called. */
const fetchOptions = is.options({
  method: is.string,
  headers: is.dictionary(is.string),
  body,
  timeout: is.number,
});

/** What a web service has answered. The preludes add `ok` and `json`. */
interface FetchedAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** The host function for calls out. */
export const fetchFunctions = {
  fetch: row({
    doc: 'Calls a web service that the configuration of the server allows.',
    details:
      'An object or a list as `body` is sent as JSON. `timeout` in milliseconds. Throws ForbiddenError for other hosts, BadGatewayError and GatewayTimeoutError; any status is an answer. `{{secret:<name>}}` in a header or the body is put in by the server.',
    written: [
      'context.fetch(url, { method, headers, body, timeout })',
      "context.fetch(url, method='GET', headers=None, body=None, timeout=None)",
    ],
    types: { Context: ['fetch(url: string | URL, options?: FetchOptions): FetchAnswer'] },
    python: {
      Context: [
        "def fetch(self, url: str, method: str = 'GET', headers: dict[str, str] | None = None, body: str | dict[str, Any] | list[Any] | None = None, timeout: float | None = None) -> FetchAnswer",
      ],
    },
    args: { url: is.string, options: fetchOptions },
    permission: 'none',
    flushes: false,
    returns: returns<FetchedAnswer>(),
  }),
};

const options = is.options({ delay: is.number, at: is.string, key: is.string });

/** The host function for jobs of the app. */
export const jobFunctions = {
  addJob: row({
    doc: 'Has a function run later, once the request is stored; gives the id of the job.',
    details:
      '`target`: `<block>/<function>` of the own app. `delay` in seconds, or `at` (ISO 8601). With `key`, a job that waits or runs is the same one.',
    written: [
      'jobs.add(target, params, { delay, at, key })',
      'jobs.add(target, params=None, delay=None, at=None, key=None)',
    ],
    types: { Jobs: ['add(target: string, params?: Items | null, options?: JobOptions): string'] },
    python: {
      Jobs: [
        'def add(self, target: str, params: dict[str, Any] | None = None, *, delay: float | None = None, at: str | None = None, key: str | None = None) -> str',
      ],
    },
    args: { target: is.string, params: is.nullable(is.items), options },
    permission: 'none',
    flushes: false,
    returns: returns<string>(),
  }),
  addFetch: row({
    doc: 'Calls a web service once the request is stored, until it answers with 2xx; gives the id of the job.',
    details: 'As `context.fetch`; a host that may not be called is refused at once.',
    written: [
      'jobs.fetch(url, { method, headers, body, timeout })',
      "jobs.fetch(url, method='GET', headers=None, body=None, timeout=None)",
    ],
    types: { Jobs: ['fetch(url: string | URL, options?: FetchOptions): string'] },
    python: {
      Jobs: [
        "def fetch(self, url: str, method: str = 'GET', headers: dict[str, str] | None = None, body: str | dict[str, Any] | list[Any] | None = None, timeout: float | None = None) -> str",
      ],
    },
    args: { url: is.string, options: fetchOptions },
    permission: 'none',
    flushes: false,
    returns: returns<string>(),
  }),
};

const mail = is.options({
  to: is.list(is.string),
  subject: is.string,
  text: is.string,
  html: is.string,
  reply_to: is.string,
});

/** The host function for mail. */
export const mailFunctions = {
  sendMail: row({
    doc: 'Queues a mail, which is sent once the request is stored.',
    details:
      '`to`: an address or a list, each allowed by `mail` in settings.yaml. Throws RateLimitError when the app has sent too many.',
    written: [
      'mail.send({ to, subject, text, html, reply_to })',
      'mail.send(to, subject, text=None, html=None, reply_to=None)',
    ],
    types: { Mail: ['send(mail: MailInput): void'] },
    python: {
      Mail: [
        'def send(self, to: str | list[str], subject: str, text: str | None = None, html: str | None = None, reply_to: str | None = None) -> None',
      ],
    },
    args: { mail },
    permission: 'none',
    flushes: false,
    returns: returns<void>(),
  }),
};
