import { expect, test, vi } from 'vitest';
import { conditionOf } from '../../apps';
import { LiveReads } from '../../apps/live-topics';
import type { IndexDeclarations } from '../../indexes/types';
import { Conditions } from './conditions';

const key = { site: 's', app: 'a' };
const declared: IndexDeclarations = new Map([
  ['id', 'field'],
  ['n', 'field'],
]);

function watchedFor(query: string) {
  const reads = new LiveReads();
  reads.observer.onRead?.(key, undefined, undefined, { query, indexes: declared, isCount: false });
  const condition = conditionOf(reads.list().live[0] as string);
  if (!condition) throw new Error('no condition');
  return { token: query, condition, wider: ['any'] };
}

function opened() {
  const woken: string[] = [];
  const conditions = new Conditions({
    declared: async () => declared,
    wake: ({ token }) => woken.push(token),
    report: (error) => {
      throw error;
    },
  });
  return { conditions, woken };
}

const created = (n: number) => ({ before: null, after: { id: String(n), creator: null, items: { n } } });
const changed = (records: ReturnType<typeof created>[] | null) => new Map([['any', records]]);
const tokens = new Set(['any']);

test('those that a change concerns are woken, until they leave', async () => {
  const { conditions, woken } = opened();
  const [one, again, two] = ['n == 1', 'n == 1', 'n == 2'].map((query) => conditions.add('any', watchedFor(query)));
  conditions.changed(tokens, changed([created(1)]));
  await vi.waitFor(() => expect(woken).toEqual(['n == 1']));
  one?.leave();
  conditions.changed(tokens, changed([created(1)]));
  await vi.waitFor(() => expect(woken).toHaveLength(2));
  again?.leave();
  conditions.changed(tokens, changed([created(1), created(2)]));
  await vi.waitFor(() => expect(woken.slice(2)).toEqual(['n == 2']));
  two?.leave();
});

test.each([
  ['a change without its records', changed(null)],
  ['one by another version', undefined],
  ['more changes than are compared', changed(Array.from({ length: 501 }, (_, n) => created(n)))],
])('%s wakes all of the app', async (_what, apps) => {
  const { conditions, woken } = opened();
  for (const query of ['n == -1', 'n == -2']) conditions.add('any', watchedFor(query));
  conditions.changed(tokens, apps);
  if (apps?.get('any')?.length) conditions.changed(tokens, apps);
  await vi.waitFor(() => expect(woken.length).toBeGreaterThan(1));
});

test('a flood is compared in slices, or wakes', async () => {
  const { conditions, woken } = opened();
  for (let n = 0; n < 9_999; n += 1) conditions.add('any', watchedFor(`n == ${-1 - n}`));
  conditions.add('any', watchedFor('n == 499'));
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  for (let round = 0; round < 5; round += 1)
    conditions.changed(tokens, changed(Array.from({ length: 500 }, (_, n) => created(n))));
  await vi.waitFor(() => expect(woken).toContain('n == 499'), 10_000);
  clearInterval(timer);
  expect(longest).toBeLessThan(250);
  expect(conditions.add('any', watchedFor('n == 3'))).toBeNull();
});
