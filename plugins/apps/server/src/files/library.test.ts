import { expect, test } from 'vitest';
import { createLibrary, type LibraryStrapi } from './library';

/** Values of a statement that SQLite takes at most. */
const MAX_VALUES = 32_766;

type Where = Record<string, { $in?: string[] } | string>;

/** A media library with the files of one app, whose database refuses statements with too many values. */
function libraryOf(files: readonly string[]) {
  const rows = async ({ where }: { where: Where }) => {
    const asked = Object.values(where).flatMap((value) => (typeof value === 'string' ? [] : (value.$in ?? [])));
    if (asked.length > MAX_VALUES) throw new Error('too many SQL variables');
    const found = Object.values(where).some((value) => typeof value !== 'string') ? asked : files;
    return found.map((name) => ({ file: name, documentId: name, related: name === 'used' ? [{}] : [] }));
  };
  const pictures = { upload: <T>(_file: unknown, upload: () => Promise<T>) => upload() };
  return createLibrary({ db: { query: () => ({ findMany: rows }) } } as unknown as LibraryStrapi, pictures);
}

test.each(['of the app', 'named'])('more files than a statement has values are found: %s', async (which) => {
  const files = ['used', ...Array.from({ length: 70_000 }, (_, at) => `f${at}`)];
  const found = await libraryOf(files).removable('site', 'app', which === 'named' ? files : undefined);
  expect(found).toEqual(files.slice(1));
});
