import type { Core } from '@strapi/strapi';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ChangedRecord } from '../../apps';
import type { IndexDeclarations } from '../../indexes/types';
import { createChangeLog } from './change-log';

const now = Date.UTC(2026, 0, 1);
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

const key = { site: 's', app: 'a' };
const declared: IndexDeclarations = new Map([
  ['id', 'field'],
  ['article', 'field'],
  ['text', 'text'],
]);

function opened(query: object) {
  const rows = { create: vi.fn(async () => ({})), deleteMany: vi.fn(), findOne: vi.fn(async () => null), ...query };
  const strapi = { db: { query: () => rows } } as unknown as Core.Strapi;
  const receive = vi.fn();
  const knowsSince = vi.fn();
  const report = vi.fn();
  const log = createChangeLog({ strapi, report, origin: 'own', declared: async () => declared, receive, knowsSince });
  return { log, rows, receive, knowsSince, report };
}

const row = (id: number, more: object = {}) => ({
  id,
  origin: 'other',
  tokens: '["a"]',
  records: JSON.stringify({ at: now, apps: {} }),
  ...more,
});

test('the first poll reads the last minute, later ones what is new', async () => {
  const findMany = vi.fn(async (_query: object) => [row(2)]);
  const { log, receive, knowsSince, report } = opened({ findMany });
  const { ready, stop } = log.listen();
  await ready;
  expect(receive.mock.calls).toMatchObject([[{ tokens: ['a'], at: now }, true]]);
  expect(knowsSince.mock.lastCall).toEqual([now - 60_000]);
  const third = row(3, { tokens: '["b"]', records: null });
  findMany.mockImplementation(async (query) => ('select' in query ? [row(2), third] : [third]));
  await vi.advanceTimersByTimeAsync(3_500);
  expect(receive.mock.calls.slice(1)).toMatchObject([[{ tokens: ['b'], apps: undefined }, false]]);
  stop();
  expect(report).not.toHaveBeenCalled();
});

test('a listener that comes soon after another has left begins no second loop; one that comes later begins again', async () => {
  const findMany = vi.fn(async () => []);
  const { log, knowsSince } = opened({ findMany });
  log.listen().stop();
  const second = log.listen();
  await vi.advanceTimersByTimeAsync(5_500);
  expect(findMany).toHaveBeenCalledTimes(6);
  second.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(knowsSince.mock.lastCall).toEqual([Number.POSITIVE_INFINITY]);
  const polls = findMany.mock.calls.length;
  expect(polls).toBeLessThan(20);
  const third = log.listen();
  await third.ready;
  expect(findMany).toHaveBeenCalledTimes(polls + 1);
  expect(knowsSince.mock.lastCall?.[0]).toBeLessThan(Number.POSITIVE_INFINITY);
  third.stop();
});

async function written(records: readonly ChangedRecord[] | null): Promise<Record<string, unknown>> {
  const { log, rows } = opened({ findMany: vi.fn(async () => []) });
  const apps = new Map([['any', records]]);
  log.write({ at: now, origin: 'own', tokens: ['any'], apps }, new Map([['any', key]]));
  await vi.advanceTimersByTimeAsync(200);
  expect(rows.create).toHaveBeenCalledTimes(1);
  const [[{ data }]] = rows.create.mock.calls as unknown as [[{ data: { records: string } }]];
  await log.destroy();
  return JSON.parse(data.records).apps;
}

const state = (items: Record<string, string>) => ({ id: 'r', creator: null, items });

test('other processes get what conditions can look at, without large items', async () => {
  const items = { article: 'one', secret: 'x', block: 'b', text: 'long '.repeat(1_000) };
  const { any } = await written([{ before: null, after: state(items) }]);
  const after = { id: 'r', creator: null, items: { article: 'one', block: 'b' }, cut: ['text'] };
  expect(any).toEqual([{ before: null, after, indexes: expect.any(String) }]);
});

test.each([
  ['more than 200 records', Array.from({ length: 201 }, () => ({ before: null, after: state({}) }))],
  ['more than is said', null],
])('%s count as any record of the app', async (_what, records) => {
  expect((await written(records)).any ?? null).toBeNull();
});

test('what cannot be written is written later, as any record of the app', async () => {
  const { log, rows, report } = opened({ findMany: vi.fn(async () => []) });
  rows.create.mockRejectedValueOnce(new Error('no database'));
  const apps = new Map([['any', []]]);
  log.write({ at: now, origin: 'own', tokens: ['any'], apps }, new Map([['any', key]]));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(report).toHaveBeenCalledTimes(1);
  const [, [{ data }]] = rows.create.mock.calls as unknown as [
    unknown,
    [{ data: { tokens: string; records: string } }],
  ];
  expect([data.tokens, JSON.parse(data.records)]).toEqual(['["any"]', { at: now, apps: { any: null } }]);
  await log.destroy();
});

test('what waits is written at the end', async () => {
  const { log, rows } = opened({ findMany: vi.fn(async () => []) });
  log.write({ at: now, origin: 'own', tokens: ['a'], apps: new Map() }, new Map());
  await log.destroy();
  expect(rows.create).toHaveBeenCalledTimes(1);
});

test('rows are deleted after a minute, also when nothing more happens', async () => {
  const { log, rows } = opened({ findMany: vi.fn(async () => []) });
  log.write({ at: now, origin: 'own', tokens: ['a'], apps: new Map() }, new Map());
  await vi.advanceTimersByTimeAsync(62_000);
  expect(rows.deleteMany).toHaveBeenCalledTimes(1);
  await log.destroy();
});
