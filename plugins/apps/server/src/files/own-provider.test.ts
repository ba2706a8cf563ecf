import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOwnProvider, createStorage, loadProvider, type ProviderConfig } from './storage';
import { bytesOf } from './stores';
import { type ObjectServer, objectServer } from './testing/object-server';

const config: ProviderConfig = { provider: 'fake', providerOptions: {}, actionOptions: {}, readOnly: false };
const content = Buffer.from('Private text.');
const source = (bytes = content) => ({
  name: 'a.txt',
  mime: 'text/plain',
  size: bytes.length,
  getStream: () => Readable.from([bytes], { objectMode: false }),
});

describe('a store at a provider of its own', () => {
  let server: ObjectServer;
  beforeEach(async () => {
    server = await objectServer();
  });
  afterEach(() => server.close());

  /** @param change of the provider's functions */
  async function opened(change: object = {}) {
    const error = vi.fn();
    const provider = createOwnProvider(config, { ...server.provider, ...change }, { error });
    const storage = createStorage({
      folder: '/none',
      upload: () => undefined,
      own: { name: 'fake', readOnly: false, provider },
    });
    return { storage, store: await storage.store('apps:fake'), lines: error.mock.calls };
  }
  const unavailable = expect.objectContaining({ name: 'ServiceUnavailableError', headers: { 'Retry-After': '10' } });

  test('stores, reads whole and in part, and removes', async () => {
    const { storage, store } = await opened();
    expect(await storage.current()).toBe('apps:fake');
    const part = await store.put('abc', source());
    expect([...server.objects.keys()]).toEqual(['apps_abc.txt']);
    expect(part).toMatchObject({
      mime: 'text/plain',
      size: content.length,
      provided: { hash: 'apps_abc', ext: '.txt' },
    });
    const read = async (start: number, end: number) => {
      const found = await store.open('abc', part);
      if (!found || 'url' in found) throw new Error('no bytes');
      const stream = await found.read(start, end);
      return stream && (await buffer(stream)).toString();
    };
    expect([await read(0, content.length - 1), await read(3, 6)]).toEqual([
      content.toString(),
      content.toString('utf8', 3, 7),
    ]);
    await store.remove('abc', part);
    await store.remove('abc', part);
    expect([server.objects.size, await read(0, content.length - 1)]).toEqual([0, null]);
  });

  test('counts the bytes that were sent, whatever was announced', async () => {
    const { store } = await opened();
    const part = await store.put('abc', { ...source(), size: 5 });
    expect(part.size).toBe(content.length);
  });

  test('takes a provider that wants a buffer', async () => {
    const upload = (file: never) =>
      server.provider.uploadStream({
        ...(file as object),
        stream: Readable.from([(file as { buffer: Buffer }).buffer]),
      } as never);
    const { store } = await opened({ uploadStream: undefined, upload });
    await store.put('abc', source());
    expect(server.objects.get('apps_abc.txt')?.equals(content)).toBe(true);
  });

  test.each([
    ['open', /gives files to all who know their address/],
    ['refuses', /answers 403 to an address that its provider has signed/],
  ] as const)('takes no file where the storage %s, and the start says so', async (fault, why) => {
    server.fault = fault;
    const { storage, store, lines } = await opened();
    await storage.check();
    expect(lines).toEqual([[expect.stringMatching(why)]]);
    await expect(store.put('abc', source())).rejects.toEqual(unavailable);
    expect(server.objects.size).toBe(0);
    server.fault = null;
    await store.put('abc', source());
  });

  test('is unavailable while the storage is away, and says why in the log alone', async () => {
    const { store, lines } = await opened();
    const part = await store.put('abc', source());
    server.fault = 'away';
    await expect(store.put('other', source())).rejects.toEqual(unavailable);
    await expect(store.remove('abc', part)).rejects.toEqual(unavailable);
    await store.remove('abc', part).catch(({ message }) => expect(message).not.toContain('10.0.0.9'));
    expect(lines.at(-1)?.[0]).toContain('connect ECONNREFUSED 10.0.0.9');
    server.fault = null;
    const found = await store.open('abc', part);
    expect(found && (await buffer((await bytesOf(found)) as Readable)).equals(content)).toBe(true);
  });

  test('is unavailable for files of a provider that is no longer in use', async () => {
    const { storage } = await opened();
    await expect(storage.store('aws-s3')).rejects.toThrow('the upload provider "aws-s3", which is not in use');
  });
});

describe('a provider is loaded', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'apps-provider-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const install = async (name: string, functions: string) => {
    const at = join(folder, 'node_modules', name);
    await mkdir(at, { recursive: true });
    await writeFile(join(at, 'index.js'), `exports.init = (options) => ({ options, ${functions} });`);
  };
  const load = (provider: string) =>
    loadProvider({ ...config, provider, providerOptions: { a: 1 } }, [
      '/nowhere/package.json',
      join(folder, 'package.json'),
    ]);
  const all = 'delete() {}, uploadStream() {}, getSignedUrl() {}';

  test.each([
    ['fake', '@strapi/provider-upload-fake'],
    ['Fake', '@strapi/provider-upload-fake'],
    ['own-package', 'own-package'],
  ])('%s from %s, with its options', async (name, installed) => {
    await install(installed, all);
    expect(load(name)).toMatchObject({ options: { a: 1 } });
  });

  test('or stops the start, with what to install or to choose', async () => {
    expect(() => load('fake')).toThrow(
      "'filesProvider' needs the package '@strapi/provider-upload-fake', which is not installed: npm install",
    );
    await install('@strapi/provider-upload-fake', 'delete() {}, uploadStream() {}');
    expect(() => load('fake')).toThrow('signs no addresses');
  });
});
