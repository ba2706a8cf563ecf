import { z } from 'zod';
import { type Items, isItems, type Json } from '../../../../shared/json';
import type { LogLevel } from '../../../../shared/logic-protocol';
import type { LogEntry } from '../types';
import * as is from './row';
import { type Caller, returns, row } from './row';

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

const changes = is.options({ status: is.status, headers: is.dictionary(is.string), redirect: is.string });

/** Host functions for output beside results: the log and the response. */
export const outputFunctions = {
  log: row({
    doc: 'Writes a log entry.',
    details:
      "With `debug: true`: to the server's log and to the console of this visitor's browser. In JavaScript also `console`, whose levels are kept.",
    written: ['app.log(message)', 'app.log(message), print(message)'],
    types: { App: ['log(...messages: unknown[]): void'] },
    python: { App: ['def log(self, *messages: Any) -> None'] },
    args: { message: is.string, stack: is.string, level: is.nullable(is.oneOf(levels)) },
    permission: 'none',
    flushes: false,
    prepare(caller: Caller, { message, stack, level }): LogEntry {
      caller.countLog();
      const { app, block, logEntrySize } = caller;
      const entry = { app, block, line: caller.lineOf(stack), message: message.slice(0, logEntrySize) };
      return level === null || level === 'info' ? entry : { ...entry, level: level as LogLevel };
    },
    returns: returns<void>(),
  }),
  respond: row({
    doc: 'Changes the status, a header or the redirect of the response.',
    details: 'Headers: only names of an allow-list. Redirects: inside the site, or to a configured host.',
    written: [
      'request.response.status = 404, .set_header(name, value), .redirect(url)',
      'request.response.status = 404, .set_header(name, value), .redirect(url)',
    ],
    types: {
      Response: [
        'set_header(name: string, value: string): void',
        "/** Rapido's names of the same. */\nsetHeader(name: string, value: string): void",
        'setStatus(status: number): void',
        'redirect(url: string): void',
      ],
    },
    python: {
      Response: [
        'status: int | None',
        'def set_header(self, name: str, value: str) -> None',
        'def setHeader(self, name: str, value: str) -> None',
        'def setStatus(self, status: int) -> None',
        'def redirect(self, url: str) -> None',
      ],
    },
    args: { changes },
    permission: 'none',
    flushes: false,
    returns: returns<void>(),
  }),
  flash: row({
    doc: 'Shows the visitor a message once, in the page of this request or in the one that a redirect leads to.',
    details: 'A text of at most 300 characters; at most 5 in a request.',
    written: ['context.flash(message)', 'context.flash(message)'],
    types: { Context: ['flash(message: string): void'] },
    python: { Context: ['def flash(self, message: str) -> None'] },
    args: { message: is.string },
    permission: 'none',
    flushes: false,
    returns: returns<void>(),
  }),
  invalid: row({
    doc: 'Refuses what was sent: nothing is saved, and the message stands beside the field (422).',
    details:
      'In `validate`, actions, `on_save`, `on_delete` and `record_id`; the function goes on, for further messages. Without an element the message is about the whole form.',
    written: ['context.invalid(element, message)', 'context.invalid(element, message)'],
    python: { Context: ['def invalid(self, element: str | None, message: str) -> None'] },
    types: {
      Context: [
        'invalid(element: string | null, message: string): void',
        'invalid(options: { element?: string | null; message: string }): void',
      ],
    },
    args: { element: is.nullable(is.string), message: is.string },
    permission: 'none',
    flushes: false,
    returns: returns<void>(),
  }),
};

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
