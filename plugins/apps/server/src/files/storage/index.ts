import { unavailable } from '../../common/errors';
import { createFolderStore } from './folder';
import type { OwnProvider } from './own-provider';
import { createProviderStore } from './provider';
import type { ProvidedFile, Storage, Store } from './types';

export { streamOf } from './folder';
export { createOwnProvider, loadProvider, type OwnProvider, type ProviderConfig } from './own-provider';
export { bytesOf, fetched, opening } from './remote';
export type { OpenedPart, PartSource, Storage, Store, StoredBytes, StoredPart } from './types';

/** The parts of Strapi's upload plugin that store bytes. */
export interface UploadPlugin {
  provider?: {
    isPrivate?(): boolean | Promise<boolean>;
    getSignedUrl?(file: ProvidedFile): Promise<{ url: string }> | { url: string };
    delete?(file: ProvidedFile): unknown;
  };
  config?(key: string): unknown;
  service(name: 'provider'): { upload(file: object): Promise<void>; checkFileSize(file: object): Promise<void> };
}

export interface StorageOptions {
  /** Absolute path of the plugin's own folder; made when it is needed. */
  folder: string;
  upload(): UploadPlugin | undefined;
  /** That of `filesProvider`. */
  own: { name: string; readOnly: boolean; provider: OwnProvider } | null;
}

/** Of those in the same table as Strapi's providers, by their names. */
const ownName = (name: string): string => `apps:${name}`;

/**
 * New files go to the provider of `filesProvider`, without one, or while it is only read, to Strapi's upload provider where that is private, else to the folder.
 * Files that were stored elsewhere are read from there.
 */
export function createStorage({ folder, upload, own }: StorageOptions): Storage {
  const folderStore = createFolderStore(folder);
  const ownStore = own && { name: ownName(own.name), store: createProviderStore(own.provider) };
  const uploadStore: Store = createProviderStore({
    upload: async (file) => upload()?.service('provider').upload(file),
    delete: async (file) => void (await upload()?.provider?.delete?.(file)),
    open: async (file) => ({ url: (await upload()?.provider?.getSignedUrl?.(file))?.url ?? file.url }),
  });

  const privateUpload = async (): Promise<string | null> => {
    const plugin = upload();
    const isPrivate = (await plugin?.provider?.isPrivate?.()) === true;
    return isPrivate ? String(plugin?.config?.('provider') ?? 'upload') : null;
  };

  return {
    current: async () => (ownStore && !own.readOnly ? ownStore.name : privateUpload()),
    async store(name) {
      if (name === null) return folderStore;
      if (name === ownStore?.name) return ownStore.store;
      if (name === (await privateUpload())) return uploadStore;
      throw unavailable(`This file is stored by the upload provider "${name}", which is not in use`, 60);
    },
    check: async () => (own?.readOnly ? undefined : own?.provider.check()),
  };
}
