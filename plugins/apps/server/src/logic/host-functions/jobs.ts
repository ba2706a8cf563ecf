import { fetchOptions } from './fetch';
import { returns, row } from './row';
import * as is from './schema';

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
