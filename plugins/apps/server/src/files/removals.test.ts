import { expect, test, vi } from 'vitest';
import { unavailable } from '../common/errors';
import type { ReleasedFile } from './library';
import { createRemovals } from './library';

/** Released files of one app, `f1` to `f<count>`; those that records name, and those that content uses. */
function releasedFiles(count: number, { records = ['f1'], content = ['f2'] } = {}) {
  let rows = Array.from({ length: count }, (_, at): ReleasedFile => {
    return { id: at + 1, site: 'site', app: at < count - 1 ? 'app' : 'other', file: `f${at + 1}`, released: 'mark' };
  });
  const forget = (files: readonly string[]) => {
    rows = rows.filter(({ file }) => !files.includes(file));
  };
  const library = {
    released: vi.fn(async (after: number, limit: number) => rows.filter(({ id }) => id > after).slice(0, limit)),
    inContent: async (files: readonly string[]) => new Set(content.filter((file) => files.includes(file))),
    keep: vi.fn(async (files: readonly ReleasedFile[]) => forget(files.map(({ file }) => file))),
    remove: vi.fn(async (files: readonly string[]) => forget(files)),
  };
  const namedFiles = vi.fn(async (_key: object, files: readonly string[]) => {
    return new Set(records.filter((file) => files.includes(file)));
  });
  const error = vi.fn();
  const removals = createRemovals({ library, namedFiles, logger: { error } });
  return { library, namedFiles, error, removals, left: () => rows.map(({ file }) => file) };
}

test('files that records name or content uses stay, others are removed, in batches of one app', async () => {
  const { library, namedFiles, error, removals, left } = releasedFiles(250);
  removals.begin();
  removals.begin();
  await vi.waitFor(() => expect(left()).toEqual([]));
  await removals.destroy();
  expect(library.keep.mock.calls.flat(2).map(({ file }) => file)).toEqual(['f1', 'f2']);
  expect(library.remove).toHaveBeenCalledTimes(248);
  const asked = namedFiles.mock.calls.map(([key, files]) => [(key as { app: string }).app, files.length]);
  expect(asked).toEqual([
    ['app', 99],
    ['app', 100],
    ['app', 49],
    ['other', 1],
  ]);
  expect(error).not.toHaveBeenCalled();
});

test('files that come while others are looked at are looked at too', async () => {
  const { library, namedFiles, removals } = releasedFiles(1, { records: [] });
  let go: () => void = () => undefined;
  namedFiles.mockImplementationOnce(async () => {
    await new Promise<void>((resolve) => {
      go = resolve;
    });
    return new Set<string>();
  });
  removals.begin();
  await vi.waitFor(() => expect(namedFiles).toHaveBeenCalled());
  const reads = library.released.mock.calls.length;
  removals.begin();
  go();
  await vi.waitFor(() => expect(library.released.mock.calls.length).toBe(reads + 2));
  await removals.destroy();
});

test('a file that the library cannot remove stays for the next time, and keeps no other from it', async () => {
  const { library, error, removals, left } = releasedFiles(3, { records: [], content: [] });
  library.remove.mockRejectedValueOnce(new Error('no storage'));
  removals.begin();
  await vi.waitFor(() => expect(left()).toEqual(['f1']));
  expect(error.mock.calls.flat()).toEqual([expect.stringContaining('no storage')]);
  removals.begin();
  await vi.waitFor(() => expect(left()).toEqual([]));
  await removals.destroy();
});

test('nothing is removed while the records cannot be asked; the end of the server does not wait for that', async () => {
  const { library, namedFiles, error, removals, left } = releasedFiles(1, { records: [] });
  namedFiles.mockRejectedValueOnce(unavailable('The indexes are being built', 2));
  removals.begin();
  await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 5_000 });
  expect(namedFiles).toHaveBeenCalledTimes(2);
  await removals.destroy();

  const busy = releasedFiles(1, { records: [] });
  busy.namedFiles.mockRejectedValue(unavailable('The indexes are being built', 2));
  busy.removals.begin();
  await vi.waitFor(() => expect(busy.namedFiles).toHaveBeenCalled());
  await busy.removals.destroy();
  expect([busy.left(), busy.library.remove.mock.calls, busy.error.mock.calls]).toEqual([['f1'], [], []]);
  expect([library.remove.mock.calls.length, error.mock.calls]).toEqual([1, []]);
});

test('an error of the database is logged and removes nothing', async () => {
  const { library, namedFiles, error, removals, left } = releasedFiles(2, { content: [] });
  namedFiles.mockRejectedValue(new Error('connection lost'));
  removals.begin();
  await vi.waitFor(() => expect(error).toHaveBeenCalledTimes(2));
  await removals.destroy();
  expect([left(), library.remove.mock.calls]).toEqual([['f1', 'f2'], []]);
});
