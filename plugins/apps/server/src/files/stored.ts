import type { Json } from '../../../shared/json';
import type { LibraryStrapi, OwnFiles } from './library';
import type { PrivateFile } from './private-files';
import type { AppKey, FileAddresses, ShownFile, StoredFile } from './types';

/**
 * Whether an item's value names a file of the media library. Records may come from clients: only an address on the web or of
 * this server is one.
 */
export function isStoredFile(value: unknown): value is StoredFile {
  if (typeof value !== 'object' || value === null) return false;
  const { documentId } = value as Record<string, unknown>;
  if (typeof documentId !== 'string') return false;
  const { url, name, mime, size } = value as Record<string, unknown>;
  return (
    typeof name === 'string' &&
    typeof mime === 'string' &&
    typeof size === 'number' &&
    typeof url === 'string' &&
    /^(?:https?:\/\/|\/(?!\/))/i.test(url)
  );
}

/**
 * Calls `visit` for each file that a value names, at any depth of lists and objects; those of less depth first. Each write looks
 * through all items of its record: names are read in a loop, because `Object.values` costs five times as much.
 */
export function eachFile(value: unknown, visit: (file: StoredFile) => void): void {
  const open: object[] = [];
  const add = (one: unknown) => {
    if (typeof one === 'object' && one !== null) open.push(one);
  };
  add(value);
  for (const one of open) {
    if (isStoredFile(one)) visit(one);
    if (Array.isArray(one)) one.forEach(add);
    else for (const name in one) if (Object.hasOwn(one, name)) add((one as Record<string, unknown>)[name]);
  }
}

/** The document ids of the files that a value names. */
export function documentIdsIn(value: unknown): string[] {
  const found: string[] = [];
  eachFile(value, ({ documentId }) => found.push(documentId));
  return found;
}

/** A value without files that are not `kept`: an item or a field is left out, a list has the others. Undefined: nothing is left. */
export function withoutOthers(value: Json, kept: ReadonlySet<string>): Json | undefined {
  if (isStoredFile(value)) return kept.has(value.documentId) ? value : undefined;
  if (Array.isArray(value))
    return value.map((one) => withoutOthers(one, kept)).filter((one): one is Json => one !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  const left = Object.entries(value).map(([name, one]): [string, Json | undefined] => [name, withoutOthers(one, kept)]);
  return Object.fromEntries(left.filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** The files of an item: one, or a list. */
export function filesIn(value: unknown): StoredFile[] {
  return (Array.isArray(value) ? value : [value]).filter(isStoredFile);
}

/** The query of an address that asks for the small picture of an image. */
export const THUMBNAIL = 'thumbnail';

/** A row of the media library. */
type FileRow = Record<string, unknown>;

/** The parts of Strapi's upload plugin that know whether addresses are signed. */
interface UploadPlugin {
  provider?: { isPrivate?(): boolean | Promise<boolean> };
  service(name: 'file'): { signFileUrls?(file: FileRow): Promise<FileRow> };
}

interface AddressOptions {
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
    url: whole(String(url)),
    mime: String(mime),
    size: Math.round(Number(size) * 1000),
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
      url,
      name,
      mime: main.mime,
      size: main.size,
      isSigned: false,
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
