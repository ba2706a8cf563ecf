import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppsError, unavailable } from '../common/errors';
import type { Logger } from '../common/log';
import {
  ask,
  createFolderStore,
  createProviderStore,
  type ProvidedFile,
  type ProviderCalls,
  remoteBytes,
  type Storage,
  type Store,
  type StoredBytes,
} from './stores';

/** An upload provider as the host's configuration names it: the keys are those of Strapi's upload plugin. */
export interface ProviderConfig {
  /** The name, as in `@strapi/provider-upload-<name>`, or of a package. */
  provider: string;
  providerOptions: Record<string, unknown>;
  /** By the provider's function: its second argument. */
  actionOptions: Record<string, unknown>;
  /** New files go where they would go without it; its own files are read and removed. */
  readOnly: boolean;
}

/** What such a package makes. */
interface Provider {
  upload?(file: object, options: unknown): unknown;
  uploadStream?(file: object, options: unknown): unknown;
  delete(file: object, options: unknown): unknown;
  getSignedUrl(file: object, options: unknown): Promise<{ url: string }> | { url: string };
}

/** A provider of the plugin's own. */
export interface OwnProvider extends ProviderCalls {
  open(file: ProvidedFile, size: number): Promise<StoredBytes>;
  /** Finds out whether files can be stored. Never rejects: what is wrong is in the log. */
  check(): Promise<void>;
}

const wrong = (message: string) => new Error(`Configuration of the plugin 'apps': 'filesProvider' ${message}`);

/**
 * Loads a provider as Strapi does.
 * @param files from which its package is looked for, one after the other
 * @throws Error that stops the start, where it is not installed or cannot keep files private
 */
export function loadProvider({ provider, providerOptions }: ProviderConfig, files: readonly string[]): Provider {
  const names = [`@strapi/provider-upload-${provider.toLowerCase()}`, provider];
  for (const from of files)
    for (const name of names) {
      const require = createRequire(from);
      const path = located(require, name);
      if (path === null) continue;
      const made = (require(path) as { init(options: object): Partial<Provider> }).init(providerOptions);
      if (made.delete && made.getSignedUrl && (made.upload || made.uploadStream)) return made as Provider;
      throw wrong(`names '${provider}', which signs no addresses: files there would be open to all`);
    }
  throw wrong(`needs the package '${names[0]}', which is not installed: npm install ${names[0]}`);
}

function located(require: NodeJS.Require, name: string): string | null {
  try {
    return require.resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

async function statusOf(url: string): Promise<number> {
  const { status, stream } = await ask(url);
  stream.destroy();
  return status;
}

/**
 * The provider of `filesProvider`. Its files are read by this process, with addresses that the provider signs for it. Before the first is
 * stored, a file of a few bytes is, and has to be out of reach of a request without a signature: a storage that gives files to
 * all who know an address is refused.
 */
export function createOwnProvider(
  { actionOptions }: Pick<ProviderConfig, 'actionOptions'>,
  provider: Provider,
  logger: Pick<Logger, 'error'>,
): OwnProvider {
  /** Errors of a storage are for the log: they may name hosts and buckets. */
  const calling = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppsError) throw error;
      logger.error(
        `[apps] the storage of 'filesProvider' has failed: ${error instanceof Error ? error.message : error}`,
      );
      throw unavailable('The storage of files cannot be reached', 10, { cause: error });
    }
  };

  const upload = async (file: { getStream(): Readable; stream?: Readable; buffer?: Buffer }): Promise<void> => {
    if (provider.uploadStream) {
      file.stream = file.getStream();
      await provider.uploadStream(file, actionOptions.uploadStream);
      delete file.stream;
    } else {
      file.buffer = await buffer(file.getStream());
      await provider.upload?.(file, actionOptions.upload);
      delete file.buffer;
    }
  };
  const remove = async (file: object): Promise<void> => void (await provider.delete(file, actionOptions.delete));

  const signed = async (file: ProvidedFile) => (await provider.getSignedUrl(file, actionOptions.getSignedUrl)).url;

  const probe = async (): Promise<void> => {
    const content = Buffer.from('A file that only its owner reads.\n');
    const about = { name: 'probe.txt', hash: `apps_probe_${randomBytes(12).toString('hex')}`, ext: '.txt' };
    const sizes = { mime: 'text/plain', size: content.length / 1000, sizeInBytes: content.length };
    const file = { ...about, ...sizes, url: '', getStream: () => Readable.from([content], { objectMode: false }) };
    await upload(file);
    try {
      // A storage that the server reaches only with the provider's own address is private.
      if ((await statusOf(file.url).catch(() => 403)) < 400)
        throw new Error('it gives files to all who know their address; make it private');
      const status = await statusOf(await signed(file));
      if (status !== 200) throw new Error(`it answers ${status} to an address that its provider has signed`);
    } finally {
      await remove(file);
    }
  };
  let probing: Promise<void> | undefined;
  /** Once, unless it fails. */
  const probed = (): Promise<void> => {
    probing ??= probe().catch((error) => {
      probing = undefined;
      throw error;
    });
    return probing;
  };

  return {
    upload: (file) =>
      calling(async () => {
        await probed();
        await upload(file as Parameters<typeof upload>[0]);
      }),
    delete: (file) => calling(() => remove(file)),
    async open(file, size) {
      const { read, close } = remoteBytes(size, () => signed(file));
      return { size, read: (start, end) => calling(() => read(start, end)), close };
    },
    check: () => calling(probed).catch(() => undefined),
  };
}

export type { OpenedPart, PartSource, Storage, Store, StoredBytes, StoredPart } from './stores';
export { bytesOf, fetched, opening, streamOf } from './stores';

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

interface StorageOptions {
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
