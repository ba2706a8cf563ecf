import type { LibraryStrapi } from './library';
import { eachFile } from './stored';
import type { AppKey, FileAddresses, ShownFile, StoredFile } from './types';

/** A row of the media library. */
type FileRow = Record<string, unknown>;

/** The parts of Strapi's upload plugin that know whether addresses are signed. */
export interface UploadPlugin {
  provider?: { isPrivate?(): boolean | Promise<boolean> };
  service(name: 'file'): { signFileUrls?(file: FileRow): Promise<FileRow> };
}

export interface AddressOptions {
  upload: LibraryStrapi['plugin'];
  baseUrl(): string;
  /** Rows of the media library with these document ids, in one statement for up to some hundred of them. */
  rows(documentIds: readonly string[]): Promise<FileRow[]>;
  /** Those of the files that an app's forms have put into the media library. */
  own(key: AppKey, documentIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Addresses of the files of records: this is the one place that makes them (docs/decisions/file-addresses.md). */
export function createAddresses({ upload, baseUrl, rows, own }: AddressOptions): FileAddresses {
  const whole = (url: string) => (url.startsWith('/') && !url.startsWith('//') ? `${baseUrl()}${url}` : url);

  const shownFile = ({ url, mime, size, width, height, isUrlSigned }: FileRow): ShownFile => ({
    ...{ url: whole(String(url)), mime: String(mime), size: Math.round(Number(size) * 1000) },
    ...(width && height ? { width: Number(width), height: Number(height) } : {}),
    isSigned: isUrlSigned === true,
  });

  return {
    async find(key, documentIds) {
      const found = await rows(documentIds);
      const plugin = upload('upload') as UploadPlugin | undefined;
      const sign = plugin?.service('file').signFileUrls;
      const isPrivate = found.length > 0 && sign !== undefined && (await plugin?.provider?.isPrivate?.()) === true;
      // A record may name any file: only those that the app itself has stored are opened to its readers.
      const opened = isPrivate ? await own(key, documentIds) : new Set<string>();
      const shown = found.map(async (row): Promise<[string, ShownFile]> => {
        const documentId = String(row.documentId);
        return [documentId, shownFile(sign && opened.has(documentId) ? await sign(row) : row)];
      });
      return new Map(await Promise.all(shown));
    },

    put(value, found) {
      const copy = structuredClone(value);
      eachFile(copy, (file) => {
        const { isSigned: _, size = file.size, ...now } = found.get(file.documentId) ?? { url: whole(file.url) };
        // The library knows sizes in kB with two decimals.
        Object.assign(file as StoredFile, now, Math.abs(file.size - size) > 5 ? { size } : {});
      });
      return copy;
    },
  };
}
