import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ChangedRecord } from '../../apps';
import type { IndexDeclarations } from '../../indexes/types';
import { createChangeLog } from './changes';

const now = Date.UTC(2026, 0, 1);
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

const key = { site: 's', app: 'a' };
const declared: IndexDeclarations = new Map([
  ['id', 'field'],
  ['article', 'field'],
  ['text', 'text'],
]);

function opened() {
  const write = vi.fn(async (_message: object) => {});
  const report = vi.fn();
  return { log: createChangeLog({ messages: { write }, report, declared: async () => declared }), write, report };
}

async function written(records: readonly ChangedRecord[] | null): Promise<Record<string, unknown>> {
  const { log, write } = opened();
  const apps = new Map([['any', records]]);
  log.write({ at: now, origin: 'own', tokens: ['any'], apps }, new Map([['any', key]]));
  await vi.advanceTimersByTimeAsync(200);
  expect(write).toHaveBeenCalledTimes(1);
  const [[{ said }]] = write.mock.calls as unknown as [[{ said: { apps: Record<string, unknown> } }]];
  await log.destroy();
  return said.apps;
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
  const { log, write, report } = opened();
  write.mockRejectedValueOnce(new Error('no database'));
  const apps = new Map([['any', []]]);
  log.write({ at: now, origin: 'own', tokens: ['any'], apps }, new Map([['any', key]]));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(report).toHaveBeenCalledTimes(1);
  expect(write.mock.lastCall).toEqual([{ at: now, tokens: ['any'], said: { apps: { any: null } } }]);
  await log.destroy();
});

test('what waits is written at the end', async () => {
  const { log, write } = opened();
  log.write({ at: now, origin: 'own', tokens: ['a'], apps: new Map() }, new Map());
  await log.destroy();
  expect(write).toHaveBeenCalledTimes(1);
});
