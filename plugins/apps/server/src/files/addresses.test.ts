import { describe, expect, test, vi } from 'vitest';
import { createAddresses } from './addresses';

const stored = { id: 1, documentId: 'a', name: 'a.pdf', url: '/uploads/a.pdf', mime: 'application/pdf', size: 1004 };
const row = { ...stored, url: '/uploads/b.pdf', size: 1, provider: 'local' };
const key = { site: 's', app: 'a' };

function addressesOf({ rows = [row] as object[], isPrivate = false, own = ['a'] } = {}) {
  const read = vi.fn(async () => rows as Record<string, unknown>[]);
  const ownOf = vi.fn(async () => new Set(own));
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
  });
  const shown = async (value: unknown) => addresses.put(value, await addresses.find(key, ['a']));
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

  test('costs one look-up, and a second one only where the provider signs', async () => {
    const open = addressesOf();
    await open.shown([stored, stored]);
    expect([open.read.mock.calls.length, open.ownOf.mock.calls.length]).toEqual([1, 0]);
    const signed = addressesOf({ isPrivate: true });
    await signed.shown([stored, stored]);
    expect([signed.read.mock.calls.length, signed.ownOf.mock.calls.length]).toEqual([1, 1]);
  });
});
