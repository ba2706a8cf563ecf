import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { storedName } from './folder';
import type { OpenedPart, ProvidedFile, Store } from './types';

/** What a store does at a provider. */
export interface ProviderCalls {
  /** Stores a file with `getStream`, and notes in it where it is. */
  upload(file: object): Promise<void>;
  delete(file: ProvidedFile): Promise<void>;
  /** How the content of a stored file is read. @param size bytes */
  open(file: ProvidedFile, size: number): Promise<OpenedPart>;
}

/** Strapi counts in kilobytes. */
const kilobytes = (bytes: number): number => Math.round((bytes / 1000) * 100) / 100;

/** A store at an upload provider of Strapi's form. It lists nothing, because providers cannot: what is stored is in tables. */
export function createProviderStore(provider: ProviderCalls): Store {
  const planned: Store['planned'] = (key, { name, mime, size }) => ({
    ...{ mime, size },
    provided: { name, hash: `apps_${storedName(key)}`, ext: extname(name), mime, url: '' },
  });
  return {
    planned,
    async put(key, source) {
      const { mime, size, provided } = planned(key, source);
      let sent = 0;
      const counted = async function* () {
        sent = 0;
        for await (const chunk of source.getStream()) {
          sent += chunk.length;
          yield chunk;
        }
      };
      const getStream = () => Readable.from(counted(), { objectMode: false });
      const file = { ...provided, size: kilobytes(size), sizeInBytes: size, getStream };
      await provider.upload(file);
      const { getStream: _stream, size: _kilobytes, sizeInBytes: _bytes, ...stored } = file;
      return { mime, size: sent, provided: stored as ProvidedFile };
    },
    open: async (_key, { provided, size }) => provided && provider.open(provided, size),
    async remove(_key, { provided }) {
      if (provided) await provider.delete(provided);
    },
  };
}
