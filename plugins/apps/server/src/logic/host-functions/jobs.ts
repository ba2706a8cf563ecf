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
};
