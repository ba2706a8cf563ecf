import { expect, test, vi } from 'vitest';
import type { UnitOfWork } from '../types';
import type { SharedUnit } from './shared-unit';
import { UnitView } from './unit-view';

const key = { site: 's', app: 'a' };
const none = new Map();
const record = { id: 'r', items: {}, creator: 'user:a', version: 1, seq: 1 };
const only = { creator: 'user:a', indexes: none };

function observed() {
  const shared = {
    get: vi.fn(async () => record),
    page: vi.fn(async () => []),
    search: vi.fn(async () => ({ records: [] })),
    count: vi.fn(async () => 0),
    create: vi.fn(async () => record),
    update: vi.fn(async () => record),
    rename: vi.fn(async () => record),
    delete: vi.fn(async () => true),
    alongside: vi.fn(async (work: () => unknown) => work()),
  };
  const unit = new UnitView(shared as unknown as SharedUnit);
  const seen: unknown[] = [];
  unit.observe({
    onRead: (_, id, creator) => seen.push(['read', id, creator]),
    onWrite: (_, id, creator) => seen.push(['write', id, creator]),
  });
  return { shared, unit, seen };
}

type Method = keyof ReturnType<typeof observed>['shared'];

test.each<[Method, unknown[], unknown[]]>([
  ['get', [key, 'r', undefined], [['read', 'r', undefined]]],
  ['get', [key, 'r', 'user:a'], [['read', 'r', 'user:a']]],
  ['page', [key, { limit: 1 }], [['read', undefined, undefined]]],
  ['page', [key, { limit: 1, only }], [['read', undefined, 'user:a']]],
  ['search', [key, none, { query: '' }, {}], [['read', undefined, undefined]]],
  ['search', [key, none, { query: '', creator: 'user:a' }, {}], [['read', undefined, 'user:a']]],
  ['count', [key, none, 'a == 1', {}, {}], [['read', undefined, undefined]]],
  ['count', [key, none, 'a == 1', { creator: 'user:a' }, {}], [['read', undefined, 'user:a']]],
  ['create', [key, { items: {}, creator: null }], [['write', 'r', 'user:a']]],
  ['update', [key, 'q', { set: {} }], [['write', 'q', 'user:a']]],
  ['rename', [key, 'q', 'r', 'refuse'], [['write', 'r', 'user:a']]],
  ['delete', [key, 'q'], [['write', 'q', 'user:a']]],
  ['alongside', [async () => undefined], []],
])('%s goes to the shared unit, and to observers', async (method, args, expected) => {
  const { shared, unit, seen } = observed();
  await (unit[method] as (...args: unknown[]) => Promise<unknown>).apply(unit, args);
  expect(shared[method]).toHaveBeenCalledWith(...args);
  expect(seen).toEqual(expected);
});

test('after its end no call reaches the shared unit', async () => {
  const { shared, unit } = observed();
  await unit.end();
  await expect(unit.get(key, 'r')).rejects.toThrow('the unit of work has ended');
  await expect((unit as UnitOfWork).create(key, { items: {}, creator: null })).rejects.toThrow('has ended');
  expect(shared.get).not.toHaveBeenCalled();
  expect(shared.create).not.toHaveBeenCalled();
});

test('its end waits for the calls that are running, those that fail too', async () => {
  const { shared, unit } = observed();
  const order: string[] = [];
  let fail: (error: Error) => void = () => {};
  const deleting = new Promise<boolean>((_, reject) => {
    fail = reject;
  });
  shared.delete.mockReturnValue(deleting);
  const call = unit.delete(key, 'r').catch(() => order.push('call'));
  const end = unit.end().then(() => order.push('end'));
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  fail(new Error('lost'));
  await Promise.all([call, end]);
  expect(order).toEqual(['call', 'end']);
});
