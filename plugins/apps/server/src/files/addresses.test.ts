import { describe, expect, test, vi } from 'vitest';
import type { PrivateFile } from './private-files';
import { createAddresses } from './stored';

const stored = { id: 1, documentId: 'a', name: 'a.pdf', url: '/uploads/a.pdf', mime: 'application/pdf', size: 1004 };
const row = { ...stored, url: '/uploads/b.pdf', size: 1, provider: 'local' };
const key = { site: 's', app: 'a' };
const privateFile: PrivateFile = {
  id: 3,
  documentId: 'own',
  name: 'me.png',
  site: 's',
  app: 'a',
  width: 300,
  height: 400,
  provider: null,
  main: { mime: 'image/png', size: 12, provided: null },
  thumbnail: { mime: 'image/png', size: 3, provided: null },
};

function addressesOf({ rows = [row] as object[], isPrivate = false, own = ['a'] } = {}) {
  const read = vi.fn(async () => rows as Record<string, unknown>[]);
  const ownOf = vi.fn(async () => new Map(own.map((id) => [id, id === privateFile.documentId ? privateFile : null])));
  const signFileUrls = async (file: Record<string, unknown>) => ({
    ...file,
    url: 'https://s.example/a?x=1',
    isUrlSigned: true,
  });
  const upload = { provider: { isPrivate: async () => isPrivate }, service: () => ({ signFileUrls }) };
  const addresses = createAddresses({
    upload: () => upload as never,
    baseUrl: () => 'https://x.example/cms',
    rows: read,
    own: ownOf,
    pathOf: ({ site, app }, id, name) => `/${site}/@@apps/${app}/files/${id}/${name}`,
  });
  const shown = async (value: unknown, ids = ['a']) => addresses.put(value, await addresses.find(key, ids));
  return { shown, read, ownOf };
}

describe('a file that is shown', () => {
  test.each<[what: string, given: Parameters<typeof addressesOf>[0], value: object, expected: object]>([
    ['has the address of the library', {}, stored, { ...stored, url: 'https://x.example/cms/uploads/b.pdf' }],
    [
      'has the size of one that was replaced',
      { rows: [{ ...row, size: 7.5, width: 3, height: 4 }] },
      stored,
      { ...stored, url: 'https://x.example/cms/uploads/b.pdf', size: 7500, width: 3, height: 4 },
    ],
    [
      'keeps the address of another origin',
      { rows: [{ ...row, url: 'https://cdn.example/a' }] },
      stored,
      { ...stored, url: 'https://cdn.example/a' },
    ],
    [
      'that is gone keeps its own address',
      { rows: [] },
      stored,
      { ...stored, url: 'https://x.example/cms/uploads/a.pdf' },
    ],
    ['is signed', { isPrivate: true }, stored, { ...stored, url: 'https://s.example/a?x=1' }],
    [
      'of another app is not signed',
      { isPrivate: true, own: [] },
      stored,
      { ...stored, url: 'https://x.example/cms/uploads/b.pdf' },
    ],
    [
      'is found at any depth',
      {},
      { list: [{ cv: stored, n: 1 }] },
      { list: [{ cv: { ...stored, url: 'https://x.example/cms/uploads/b.pdf' }, n: 1 }] },
    ],
    ['is a whole file: other objects stay', {}, { documentId: 'a', url: '/x' }, { documentId: 'a', url: '/x' }],
    [
      'has no address without a scheme',
      { rows: [] },
      { ...stored, url: '//evil.example/a' },
      { ...stored, url: '//evil.example/a' },
    ],
  ])('%s', async (_what, given, value, expected) => {
    const before = structuredClone(value);
    expect(await addressesOf(given).shown(value)).toEqual(expected);
    expect(value).toEqual(before);
  });

  test('that is private has what is stored of it, whatever its record says, and no signed address', async () => {
    const { shown, read } = addressesOf({ own: ['own'], isPrivate: true });
    const claimed = {
      ...stored,
      documentId: 'own',
      name: 'x.html',
      mime: 'text/html',
      url: '/uploads/x',
      thumbnail: '/x',
    };
    const url = 'https://x.example/cms/s/@@apps/a/files/own/me.png';
    expect(await shown([claimed], ['own'])).toEqual([
      {
        id: 1,
        documentId: 'own',
        name: 'me.png',
        url,
        mime: 'image/png',
        size: 12,
        width: 300,
        height: 400,
        thumbnail: `${url}?thumbnail`,
      },
    ]);
    expect(read).not.toHaveBeenCalled();
  });

  test('has a small picture where the library has made one, and none that a client has sent', async () => {
    const formats = { thumbnail: { url: '/uploads/small.png' } };
    const [small, none] = [addressesOf({ rows: [{ ...row, formats }] }), addressesOf({ rows: [] })];
    expect(await small.shown(stored)).toMatchObject({ thumbnail: 'https://x.example/cms/uploads/small.png' });
    expect(await none.shown({ ...stored, thumbnail: '/evil' })).not.toHaveProperty('thumbnail');
  });

  test('costs a look-up in the list, and one in the media library where that has files of it', async () => {
    const open = addressesOf();
    await open.shown([stored, stored]);
    expect([open.read.mock.calls.length, open.ownOf.mock.calls.length]).toEqual([1, 1]);
  });
});
