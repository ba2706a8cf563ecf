import { expect, test, vi } from 'vitest';
import { createFiles, type LibraryStrapi, RequestFiles } from '.';
import type { Pictures } from './pictures';
import type { TemporaryFile } from './types';

/** A media library that takes files, and whose database is lost from then on. */
function lostAfterwards() {
  let isLost = false;
  let made = 0;
  const query = async () => {
    if (isLost) throw new Error('connection lost');
    return [];
  };
  const file = (name: string) => ({ documentId: name, url: `/uploads/${name}`, name, mime: 'text/plain', size: 1 });
  const strapi = {
    plugin: () => ({ service: () => ({ upload: async () => [file(`f${++made}`)], remove: query }) }),
    db: {
      query: () => ({ create: query, updateMany: query, findOne: query, findMany: query, deleteMany: query }),
      lifecycles: { subscribe: () => undefined },
    },
  };
  const error = vi.fn();
  const pictures: Pictures = { upload: (_file, upload) => upload(), destroy: async () => {} };
  const options = {
    strapi: strapi as unknown as LibraryStrapi,
    baseUrl: () => 'https://site.example',
    folder: '/none',
    keptSize: 2 ** 30,
    pictures,
    maxPixels: 1_000,
    namedFiles: async () => new Set<string>(),
    privateFolder: '/none',
    provider: null,
    packages: [],
    publicFolder: '/none',
    privatePath: () => '/none',
  };
  const files = createFiles({ ...options, logger: { error, warn: error } });
  const lose = () => {
    isLost = true;
  };
  return { files, error, lose };
}

test('a database that is lost after the commit fails no request, and its files stay', async () => {
  const { files, error, lose } = lostAfterwards();
  const discard = vi.spyOn(files, 'discard');
  const own = new RequestFiles(files, { site: 'site', app: 'app' }, () => 'sender');
  const sent = ['a', 'b'].map((token) => ({ token, path: '', name: token, mime: 'text/plain', size: 1, field: 'x' }));
  await own.add(sent as unknown as TemporaryFile[], () => ({ isPublic: true, folder: undefined }));
  lose();
  await own.finish(new Set(['f1']));
  expect(discard.mock.calls).toEqual([[['f2']]]);
  expect(error.mock.calls.flat()).toEqual(Array(2).fill(expect.stringContaining('connection lost')));
  // A later part of the request that fails must not take the saved file.
  await own.finish(new Set());
  expect(discard).toHaveBeenCalledTimes(1);
});
