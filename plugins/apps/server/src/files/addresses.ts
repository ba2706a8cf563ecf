import type { LibraryStrapi, OwnFiles } from './library';
import type { PrivateFile } from './private';
import { eachFile } from './stored';
import type { AppKey, FileAddresses, ShownFile, StoredFile } from './types';

/** The query of an address that asks for the small picture of an image. */
export const THUMBNAIL = 'thumbnail';

/** A row of the media library. */
type FileRow = Record<string, unknown>;

/** The parts of Strapi's upload plugin that know whether addresses are signed. */
interface UploadPlugin {
  provider?: { isPrivate?(): boolean | Promise<boolean> };
  service(name: 'file'): { signFileUrls?(file: FileRow): Promise<FileRow> };
}

export interface AddressOptions {
  upload: LibraryStrapi['plugin'];
  baseUrl(): string;
  /** Rows of the media library with these document ids, in one statement for up to some hundred of them. */
  rows(documentIds: readonly string[]): Promise<FileRow[]>;
  /** Those of the files that an app's forms have stored; null for those in the media library. */
  own(key: AppKey, documentIds: readonly string[]): Promise<OwnFiles>;
  /** The address of a private file below the site's base address. */
  pathOf(key: AppKey, documentId: string, name: string): string;
}

/** Addresses of the files of records: this is the one place that makes them (docs/decisions/file-addresses.md). */
export function createAddresses({ upload, baseUrl, rows, own, pathOf }: AddressOptions): FileAddresses {
  const whole = (url: string) => (url.startsWith('/') && !url.startsWith('//') ? `${baseUrl()}${url}` : url);

  const shownFile = ({ url, mime, size, width, height, isUrlSigned, formats }: FileRow): ShownFile => ({
    ...{ url: whole(String(url)), mime: String(mime), size: Math.round(Number(size) * 1000) },
    ...(width && height ? { width: Number(width), height: Number(height) } : {}),
    ...thumbnailOf(formats),
    isSigned: isUrlSigned === true,
  });

  const thumbnailOf = (formats: unknown) => {
    const url = (formats as { thumbnail?: { url?: unknown } } | null | undefined)?.thumbnail?.url;
    return typeof url === 'string' ? { thumbnail: whole(url) } : {};
  };

  const privateFile = (file: PrivateFile): ShownFile => {
    const { documentId, name, width, height, main, thumbnail, site, app } = file;
    const url = `${baseUrl()}${pathOf({ site, app }, documentId, name)}`;
    return {
      ...{ url, name, mime: main.mime, size: main.size, isSigned: false },
      ...(width && height ? { width, height } : {}),
      ...(thumbnail && { thumbnail: `${url}?${THUMBNAIL}` }),
    };
  };

  return {
    async find(key, documentIds) {
      // A record may name any file: only those that the app itself has stored are opened to its readers.
      const known = await own(key, documentIds);
      const shared = documentIds.filter((documentId) => !known.get(documentId));
      const found = shared.length > 0 ? await rows(shared) : [];
      const plugin = upload('upload') as UploadPlugin | undefined;
      const sign = plugin?.service('file').signFileUrls;
      const isPrivate = found.length > 0 && sign !== undefined && (await plugin?.provider?.isPrivate?.()) === true;
      const shown = found.map(async (row): Promise<[string, ShownFile]> => {
        const documentId = String(row.documentId);
        return [documentId, shownFile(isPrivate && known.has(documentId) ? await sign(row) : row)];
      });
      const privates = [...known].flatMap(([id, file]) => (file ? [[id, privateFile(file)] as const] : []));
      return new Map([...privates, ...(await Promise.all(shown))]);
    },

    put(value, found) {
      const copy = structuredClone(value);
      eachFile(copy, (file: StoredFile & { thumbnail?: unknown }) => {
        // Made when it is shown: what a client has sent back is none.
        delete file.thumbnail;
        const { isSigned: _, size = file.size, ...now } = found.get(file.documentId) ?? { url: whole(file.url) };
        // The library knows sizes in kB with two decimals.
        Object.assign(file, now, Math.abs(file.size - size) > 5 ? { size } : {});
      });
      return copy;
    },
  };
}
