import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { FILE, type Library, type LibraryStrapi, OWN } from './library';
import { type PrivateFile, type PrivateFiles, privateFile } from './private-files';
import { bytesOf, fetched, type PartSource } from './storage';

/** Files that are looked at together. */
const BATCH = 100;

/** A file of the plugin's list. */
export interface ListedFile {
  /** Of its row: they grow. */
  id: number;
  site: string;
  app: string;
  documentId: string;
  isPrivate: boolean;
  /** What is stored of it privately; of a file that is no longer private until its bytes are removed. */
  stored: PrivateFile | null;
}

/** `there`: it was moved before; `gone`: nothing is stored of it; `used`: content of Strapi uses it. */
export type MoveOutcome = 'moved' | 'there' | 'gone' | 'used';

/**
 * Moves files between the media library and the private storage. Each step is complete before the next one takes something away, so
 * that a move that was ended anywhere can be made again, and a file is at one of the two places at any time.
 */
export interface FileMoves {
  /** Saved files, in the order of their rows. @param app absent: of all apps */
  list(app: string | undefined): AsyncIterable<ListedFile>;
  /** To the store for new private files, also from an other one. */
  toPrivate(file: ListedFile): Promise<MoveOutcome>;
  /** The bytes of a file, wherever it is; null where they are gone. */
  bytes(documentId: string): Promise<Readable | null>;
  /** @param folder of the media library */
  toPublic(file: ListedFile, folder: string | undefined): Promise<MoveOutcome>;
}

interface UploadPlugin {
  provider?: { isPrivate?(): boolean | Promise<boolean> };
  config?(key: string): unknown;
  service(name: string): unknown;
}

export interface MoveTools {
  strapi: LibraryStrapi;
  /** Folder of the files that Strapi serves. */
  publicFolder: string;
  library: Pick<Library, 'rows' | 'inContent' | 'folderId'>;
  privates: Pick<PrivateFiles, 'findAll' | 'keep' | 'open' | 'remove' | 'toCurrent'>;
}

type Row = Record<string, unknown>;

export function createFileMoves({ strapi, publicFolder, library, privates }: MoveTools): FileMoves {
  const own = () => strapi.db.query(OWN);
  const plugin = () => strapi.plugin('upload') as UploadPlugin;
  const service = <T>(name: string) => plugin().service(name) as T;

  /** The bytes of a file of the media library, or of its small picture. */
  const source = async (name: string, { url, mime, size }: Row): Promise<PartSource> => {
    const known = { name, mime: String(mime) };
    const address = String(url);
    if (address.startsWith('/') && !address.startsWith('//')) {
      const path = join(publicFolder, address);
      if (relative(publicFolder, path).startsWith('..')) throw new Error(`The file is at ${address}`);
      return { ...known, size: (await stat(path)).size, getStream: () => createReadStream(path) };
    }
    const bytes = await fetched(address);
    return { ...known, size: bytes.length ?? Math.round(Number(size) * 1000), getStream: () => bytes.stream };
  };

  const signed = async (row: Row): Promise<Row> =>
    (await plugin().provider?.isPrivate?.()) === true
      ? service<{ signFileUrls(file: Row): Promise<Row> }>('file').signFileUrls(row)
      : row;

  const keepPrivately = async (row: Row, documentId: string) => {
    const readable = await signed(row);
    const name = nameOf(row);
    const small = (readable.formats as { thumbnail?: Row } | null | undefined)?.thumbnail;
    const main = await source(name, readable);
    const size = { width: numberOf(row.width), height: numberOf(row.height) };
    const content = await privates.keep(documentId, size, main, small ? await source(name, small) : null);
    if (content.main.size !== main.size) throw new Error('The file has changed while it was copied');
    return content;
  };

  /** Stores one content at the upload provider under a name that another attempt has too; as Strapi keeps it. */
  const upload = async (file: PrivateFile, part: 'main' | 'thumbnail'): Promise<Row | null> => {
    const opened = await privates.open(file, part);
    const about = file[part];
    if (!opened || !about) return null;
    const stream = await bytesOf(opened);
    if (!stream) return null;
    const hash = `${part === 'main' ? '' : 'thumbnail_'}apps_${file.documentId}`;
    const size = Math.round(about.size / 10) / 100;
    const given = { name: file.name, hash, ext: extname(file.name), mime: about.mime, size, sizeInBytes: about.size };
    const stored: Row = { ...given, getStream: () => stream };
    await service<{ upload(file: Row): Promise<void> }>('provider').upload(stored);
    const { getStream: _stream, ...kept } = stored;
    return kept;
  };

  const publish = async (file: PrivateFile, folder: string | undefined): Promise<boolean> => {
    const main = await upload(file, 'main');
    if (!main) return false;
    const thumbnail = await upload(file, 'thumbnail');
    const inFolder = folder === undefined ? null : await library.folderId(folder);
    const { sizeInBytes: _bytes, ...data } = main;
    const row = {
      ...data,
      documentId: file.documentId,
      width: file.width,
      height: file.height,
      folder: inFolder,
      folderPath: await service<{ getFolderPath(id: number | null): Promise<string> }>('file').getFolderPath(inFolder),
      provider: plugin().config?.('provider') ?? 'local',
      formats: thumbnail && { thumbnail },
    };
    await strapi.db.query(FILE).create({ data: row });
    return true;
  };

  return {
    async *list(app) {
      for (let after = 0; ; ) {
        const where = { saved: true, id: { $gt: after }, ...(app === undefined ? {} : { app }) };
        const rows = await own().findMany({ where, orderBy: 'id', limit: BATCH });
        yield* rows.map(listed);
        if (rows.length < BATCH) return;
        after = Number(rows.at(-1)?.id);
      }
    },
    async toPrivate({ documentId, isPrivate, stored: known }) {
      const [row] = await library.rows([documentId]);
      if (!row) return isPrivate && known ? privates.toCurrent(known) : 'gone';
      if (!isPrivate) {
        if ((await library.inContent([documentId])).size > 0) return 'used';
        const content = await keepPrivately(row, documentId);
        await own().updateMany({ where: { file: documentId }, data: { private: true, content } });
      }
      const [stored] = await privates.findAll([documentId]);
      // Removed with its record meanwhile.
      if (!stored) return 'gone';
      await service<{ remove(file: Row): Promise<unknown> }>('upload').remove(row);
      return 'moved';
    },
    async bytes(documentId) {
      const [known] = await privates.findAll([documentId]);
      const opened = known ? await privates.open(known, 'main') : null;
      if (opened) return bytesOf(opened);
      const [row] = known ? [] : await library.rows([documentId]);
      return row ? (await source(nameOf(row), await signed(row))).getStream() : null;
    },
    async toPublic({ documentId, isPrivate, stored }, folder) {
      if (!stored) return 'there';
      const [row] = await library.rows([documentId]);
      if (isPrivate && !row && !(await publish(stored, folder))) return 'gone';
      // The column stays until the bytes are removed: another attempt finds them by it.
      await own().updateMany({ where: { file: documentId }, data: { private: false } });
      // A change of the media library: kept renderings with the private address are made again.
      await strapi.db.query(FILE).updateMany({ where: { documentId }, data: { updatedAt: new Date() } });
      await privates.remove(stored);
      await own().updateMany({ where: { file: documentId }, data: { content: null } });
      return 'moved';
    },
  };
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const listed = (row: Row): ListedFile => ({
  id: Number(row.id),
  site: String(row.site),
  app: String(row.app),
  documentId: String(row.file),
  isPrivate: row.private === true || row.private === 1,
  stored: row.content ? privateFile(row) : null,
});

/** The name of a download; an editor of the media library may have written any. */
function nameOf({ name, ext }: Row): string {
  const [text, ending] = [
    String(name ?? '')
      .replace(/[/\\\p{C}]/gu, ' ')
      .trim() || 'file',
    String(ext ?? ''),
  ];
  return text.toLowerCase().endsWith(ending.toLowerCase()) ? text : `${text}${ending}`;
}
