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
      'In `validate`, actions, `on_save` and `record_id`; the function goes on, for further messages. Without an element the message is about the whole form.',
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
