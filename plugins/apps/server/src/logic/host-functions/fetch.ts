import { z } from 'zod';
import { type Items, isItems, type Json } from '../../../../shared/json';
import { returns, row } from './row';
import * as is from './schema';

const isBody = (value: unknown) => typeof value === 'string' || Array.isArray(value) || isItems(value);

/** A text, or what is sent as JSON. */
const body = z
  .custom<string | Json[] | Items>(isBody, 'a string, an object or a list')
  .describe('a string, an object or a list');

/** How a web service is called. */
export const fetchOptions = is.options({
  method: is.string,
  headers: is.dictionary(is.string),
  body,
  timeout: is.number,
});

/** What a web service has answered. The preludes add `ok` and `json`. */
export interface FetchedAnswer {
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
