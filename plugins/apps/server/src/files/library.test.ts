import { beforeEach, describe, expect, test } from 'vitest';
import { createLibrary, type LibraryStrapi } from './library';
import type { PrivateFiles } from './private-files';
import type { TemporaryFile } from './types';

/** Values of a statement that SQLite takes at most. */
const MAX_VALUES = 32_766;

type Row = Record<string, unknown>;
type Where = Record<string, { $in?: string[] } | unknown>;

const inList = (value: unknown): unknown[] | undefined => (value as { $in?: unknown[] } | null)?.$in;

/** A table that refuses statements with too many values. */
function createTable(rows: Row[]) {
  const matching = ({ where }: { where: Where }) => {
    const lists = Object.entries(where).map(([name, value]) => [name, new Set(inList(value) ?? [value])] as const);
    if (lists.reduce((sum, [, { size }]) => sum + size, 0) > MAX_VALUES) throw new Error('too many SQL variables');
    return rows.filter((row) => lists.every(([name, values]) => values.has(row[name])));
  };
  return {
    rows,
    findMany: async (params: { where: Where }) => matching(params),
    findOne: async (params: { where: Where }) => matching(params)[0] ?? null,
    create: async ({ data }: { data: Row }) => void rows.push({ id: rows.length + 1, ...data }),
    updateMany: async ({ data, ...params }: { where: Where; data: Row }) => {
      for (const row of matching(params)) Object.assign(row, data);
    },
    deleteMany: async (params: { where: Where }) => {
      for (const row of matching(params)) rows.splice(rows.indexOf(row), 1);
    },
  };
}

/** A media library. @param end thrown where a process ends: before or after the library has stored the file */
function libraryOf({ end, hooks = true }: { end?: 'before' | 'after' | undefined; hooks?: boolean } = {}) {
  const [own, files] = [createTable([]), createTable([])];
  let hook: (event: { params: { data: Row } }) => void = () => undefined;
  const upload = async ({ data, files: sent }: { data: { fileInfo: Row }; files: { size: number } }) => {
    if (end === 'before') throw new Error('ended');
    const row: Row = {
      documentId: 'own',
      name: data.fileInfo.name,
      url: '/x',
      mime: 'a/b',
      size: sent.size,
      related: [],
    };
    if (hooks) hook({ params: { data: row } });
    files.rows.push(row);
    if (end === 'after') throw new Error('ended');
    return [row];
  };
  const remove = async (row: Row) => void files.rows.splice(files.rows.indexOf(row), 1);
  const strapi = {
    plugin: () => ({ service: () => ({ upload, remove }) }),
    db: {
      query: (uid: string) => (uid === 'plugin::apps.file' ? own : files),
      lifecycles: {
        subscribe: ({ beforeCreate }: { beforeCreate: typeof hook }) => {
          hook = beforeCreate;
        },
      },
    },
  };
  const pictures = { upload: <T>(_file: unknown, upload: () => Promise<T>) => upload() };
  // Private files are in tests of a real Strapi (tests/forms/private-files.test.ts).
  const privates = { findAll: async () => [] } as unknown as PrivateFiles;
  return { library: createLibrary(strapi as unknown as LibraryStrapi, { pictures, privates }), own, files };
}

const sent = { site: 's', app: 'a', field: 'cv', name: 'a.txt', mime: 'text/plain', size: 1, path: '/a', token: 't' };
const file = sent as TemporaryFile;

describe('a file of a form', () => {
  let { library, own, files }: ReturnType<typeof libraryOf> = libraryOf();
  beforeEach(() => {
    ({ library, own, files } = libraryOf());
  });

  test('has the document id under which the list has it, by which it is removed', async () => {
    const { documentId } = await library.add(file);
    expect(documentId).toMatch(/^[a-z][a-z0-9]{23}$/);
    expect(own.rows).toMatchObject([{ file: documentId, site: 's', app: 'a', saved: false }]);
    expect((await library.add(file)).documentId).not.toBe(documentId);
    await library.remove([documentId]);
    expect([own.rows.length, files.rows.length]).toEqual([1, 1]);
  });

  test('is in the list before the media library has it: a process that ends between them leaves none unknown', async () => {
    // The statements after the end do not run.
    const ended = libraryOf({ end: 'after' });
    ended.own.deleteMany = async () => Promise.reject(new Error('ended'));
    ended.files.findOne = async () => Promise.reject(new Error('ended'));
    await expect(ended.library.add(file)).rejects.toThrow('ended');
    expect(ended.own.rows.map((row) => row.file)).toEqual(ended.files.rows.map(({ documentId }) => documentId));
    expect(ended.files.rows).toHaveLength(1);
  });

  test.each(['before', 'after'] as const)('that the library refuses is nowhere: %s it was stored', async (end) => {
    const refused = libraryOf({ end });
    await expect(refused.library.add(file)).rejects.toThrow('ended');
    expect([refused.own.rows, refused.files.rows]).toEqual([[], []]);
  });

  test('is in the list where the hooks of Strapi are off', async () => {
    const { library, own } = libraryOf({ hooks: false });
    expect((await library.add(file)).documentId).toBe('own');
    expect(own.rows).toMatchObject([{ file: 'own' }]);
  });

  test('that is released again while it is looked at keeps its mark', async () => {
    const { documentId } = await library.add(file);
    await library.release('s', 'a', [documentId]);
    const [first] = own.rows.map((row) => ({ ...row }) as never);
    await library.release('s', 'a', [documentId]);
    await library.keep([first as never]);
    expect(own.rows).toMatchObject([{ saved: false, released: expect.any(String) }]);
    await library.keep(own.rows as never);
    expect(own.rows).toMatchObject([{ saved: true, released: null }]);
  });

  test('is released with all of its app once it is saved, and by its own app only', async () => {
    const [one, other] = [await library.add(file), await library.add(file)];
    await library.saved([one.documentId]);
    const marked = () => own.rows.filter(({ released }) => released).map((row) => row.file);
    await library.release('s', 'other', [other.documentId]);
    expect(marked()).toEqual([]);
    await library.release('s', 'a');
    expect(marked()).toEqual([one.documentId]);
  });
});

test('more files than a statement has values are marked and found', async () => {
  const { library, own, files } = libraryOf();
  const names = ['used', ...Array.from({ length: 70_000 }, (_, at) => `f${at}`)];
  for (const name of names) {
    files.rows.push({ documentId: name, related: name === 'used' ? [{}] : [] });
    own.rows.push({ file: name, site: 's', app: 'a', released: null });
  }
  // Each statement looks at all rows of the fake table: a few are enough.
  own.rows.splice(5);
  files.rows.splice(5);
  await library.release('s', 'a', names);
  expect(own.rows.filter(({ released }) => released)).toHaveLength(5);
  expect(await library.inContent(names)).toEqual(new Set(['used']));
});
