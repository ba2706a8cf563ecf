import { expect, test, vi } from 'vitest';
import type { Files, ShownFile } from '../../files';
import type { StoredRecord } from '../../records/types';
import { MAX_LOOKED_UP, shownRecords } from './files';

const file = (documentId: string) => ({ documentId, name: 'a', mime: 'a/b', size: 1, url: '/a' });
const record = (id: string, items: object) =>
  ({ id, items, creator: null, version: 1, seq: 1 }) as unknown as StoredRecord;

function filesOf() {
  const find = vi.fn(async (_key: object, ids: readonly string[]) => new Map(ids.map((id) => [id, {} as ShownFile])));
  const put = <T>(value: T, found: ReadonlyMap<string, ShownFile>) => ({ ...value, found: found.size });
  return { find, files: { addresses: { find, put } } as unknown as Files };
}

const key = { site: 's', app: 'a' };

test('a list without files is not looked up, and its records stay', async () => {
  const { find, files } = filesOf();
  const records = [record('a', { n: 1 }), record('b', { documentId: 'no file' })];
  expect(await shownRecords(files, key, records)).toEqual(records);
  expect(find).not.toHaveBeenCalled();
});

test('the files of a list are looked up together, each once', async () => {
  const { find, files } = filesOf();
  const records = [record('a', { cv: file('x') }), record('b', {}), record('c', { all: [file('x'), file('y')] })];
  const shown = await shownRecords(files, key, records);
  expect(find.mock.calls).toEqual([[key, ['x', 'y']]]);
  expect(shown.map(({ items }) => (items as { found?: number }).found)).toEqual([2, undefined, 2]);
});

test('a long list is looked up in parts, and no more files of a part than the limit', async () => {
  const { find, files } = filesOf();
  const many = Array.from({ length: MAX_LOOKED_UP + 1 }, (_, n) => file(`f${n}`));
  await shownRecords(files, key, [
    record('a', { many }),
    ...Array.from({ length: 600 }, (_, n) => record(`r${n}`, { cv: file(`r${n}`) })),
  ]);
  expect(find.mock.calls.map(([, ids]) => ids.length)).toEqual([MAX_LOOKED_UP, 101]);
});
