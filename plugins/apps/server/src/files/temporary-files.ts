import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeptFolder, type Description, isFile, KeptFiles, type KeptStore } from './kept-files';
import { HEAD, kindOf } from './kinds';
import { pixelsOf, UnreadablePicture } from './pixels';
import type { FileScope, RefusedFile, TemporaryFile } from './types';

/** Maximum characters of a file's name. */
const MAX_NAME = 100;

/** Characters that no name needs: controls, those that reverse or hide text, and those that systems refuse. */
const UNWANTED = /[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*%&#;'`$!{}[\]^~=+,@]/gu;

/** Names that Windows gives to devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** The ending of a name, in lower case and without the dot; '' without one. */
function endingOf(name: string): string {
  return /\.([a-z0-9]{1,10})\s*$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** The name of a file as its sender has it, in one line without its path: messages name the file by it. */
export function chosenName(given: string): string {
  const last = given.slice(0, 4_000).split(/[/\\]/).at(-1) ?? '';
  return last
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
}

/**
 * A file's name without its path and without characters that mislead or harm, with the given ending.
 * @param ending without the dot
 */
function cleanName(given: string, ending: string): string {
  const last = given.slice(0, 4_000).split(/[/\\]/).at(-1) ?? '';
  const stem = last.replace(/\.[a-z0-9]{1,10}\s*$/i, '');
  const clean = stem
    .normalize('NFC')
    .replace(UNWANTED, ' ')
    .replace(/[\s.]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
  const name = clean === '' || DEVICE.test(clean) ? `file${clean && `-${clean}`}` : clean;
  return `${name}.${ending}`;
}

/** Milliseconds for which a file waits for its record; then it is removed. */
const MAX_AGE = 2 * 60 * 60 * 1000;

/** Milliseconds after which the folder is read again before a file is kept: other processes may share it. */
const MAX_SCAN_AGE = 10_000;

const tokenPattern = /^[0-9a-f]{32}$/;
const fileName = /^(?:upload-([0-9a-f]{32})(\.json)?|picture-\w{6})$/;

/** Uploaded files in the temporary folder, until their record is saved (docs/decisions/files.md). */
export interface TemporaryFiles {
  /**
   * Writes a file as it arrives, in constant memory; null for the empty part of a field in which no file was chosen. Reads
   * the stream to its end in any case, unless the stream fails.
   */
  receive(
    stream: AsyncIterable<Buffer>,
    name: string,
    maxSize: number,
    scope: FileScope,
  ): Promise<TemporaryFile | RefusedFile | null>;
  /**
   * Keeps a file for the form's next submission; older ones may give way to it. False where it finds no room.
   * @param sender a name that all requests of one sender have in common
   * @param stays tokens of files that do not give way: those that the same form shows again
   */
  keep(file: TemporaryFile, sender: string, stays: ReadonlySet<string>): Promise<boolean>;
  /** The kept file of a token, for the same field of the same app; null if there is none any more. */
  claim(token: string, scope: FileScope): Promise<TemporaryFile | null>;
  /** Whether the file is there still. */
  isThere(file: TemporaryFile): Promise<boolean>;
  /** Does work for which the bytes of the file have to be at its path, on this machine. */
  use<T>(file: TemporaryFile, work: (file: TemporaryFile) => Promise<T>): Promise<T>;
  remove(file: Pick<TemporaryFile, 'token'>): Promise<void>;
  /** Removes what waits for too long, of all processes. */
  clear(): Promise<void>;
}

/**
 * @param folder may be shared by several processes
 * @param limits.keptSize bytes of all kept files  @param limits.maxPixels pixels of a picture, all its frames together
 * @param storeOf where kept files are now; in the folder without it
 */
export function createTemporaryFiles(
  folder: string,
  { keptSize, maxPixels }: { keptSize: number; maxPixels: number },
  storeOf: (inFolder: KeptStore) => Promise<KeptStore> = async (inFolder) => inFolder,
): TemporaryFiles {
  const pathOf = (token: string) => join(folder, `upload-${token}`);
  const inFolder = createKeptFolder(folder);
  const store = () => storeOf(inFolder);
  const kept = new KeptFiles(keptSize);
  const writing = new Set<string>();
  let scannedAt = Number.NEGATIVE_INFINITY;
  let scanning: Promise<void> | undefined;

  const remove = async ({ token }: Pick<TemporaryFile, 'token'>) => {
    const isKept = kept.delete(token);
    await rm(pathOf(token), { force: true });
    if (isKept) await (await store()).remove(token);
  };

  /** Reads which files are kept: by an earlier process, and by others. */
  const scan = async () => {
    const before = new Set(kept.all().map(({ token }) => token));
    for (const token of writing) before.delete(token);
    for (const file of await (await store()).list(kept.get)) {
      if (!before.delete(file.token) && !kept.has(file.token)) kept.add(file);
    }
    for (const token of before) kept.delete(token);
    scannedAt = Date.now();
  };

  const scanned = (maxAge: number): Promise<void> | undefined => {
    if (Math.abs(Date.now() - scannedAt) < maxAge) return undefined;
    scanning ??= scan().finally(() => {
      scanning = undefined;
    });
    return scanning;
  };

  return {
    async receive(stream, name, maxSize, scope) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const token = randomBytes(16).toString('hex');
      const path = pathOf(token);
      const file = await open(path, 'wx', 0o600);
      let keeps = false;
      try {
        const { head, size, digest } = await write(file, stream, maxSize);
        if (size === 0) return name === '' ? null : { problem: 'file_empty' };
        if (size > maxSize) return { problem: 'file_large', values: { size: { bytes: maxSize } } };
        const kind = kindOf(head, endingOf(name));
        if (!kind) return { problem: 'file_unknown' };
        const chosen = chosenName(name);
        const pixels = await measured(path, kind.mime);
        if (pixels === 'unreadable') return { problem: 'file_unreadable', values: { name: chosen } };
        if (pixels !== null && pixels > maxPixels)
          return { problem: 'file_pixels', values: { name: chosen, pixels: maxPixels } };
        keeps = true;
        return {
          ...scope,
          token,
          path,
          name: cleanName(name, kind.ending),
          chosen,
          mime: kind.mime,
          size,
          digest,
          pixels,
        };
      } finally {
        await file.close();
        if (!keeps) await rm(path, { force: true });
      }
    },
    async keep(file, sender, stays) {
      await scanned(MAX_SCAN_AGE);
      const { token, size } = file;
      if (kept.has(token)) return true;
      const keptAt = Date.now();
      // Decided without waiting, so that requests at the same moment count each other's files.
      const leaving = kept.roomFor({ sender, size }, stays, keptAt);
      if (!leaving) return false;
      for (const one of leaving) kept.delete(one.token);
      kept.add({ token, sender, size, keptAt });
      writing.add(token);
      try {
        for (const one of leaving) await (await store()).remove(one.token);
        const description: Description = { ...file, sender, keptAt };
        await (await store()).put(description);
      } catch (error) {
        kept.delete(token);
        throw error;
      } finally {
        writing.delete(token);
      }
      return true;
    },
    async claim(token, scope) {
      if (!tokenPattern.test(token)) return null;
      const file = await (await store()).find(token);
      if (!file || Date.now() - file.keptAt > MAX_AGE) return null;
      const isSame = file.site === scope.site && file.app === scope.app && file.field === scope.field;
      if (!isSame) return null;
      kept.add(file);
      return file;
    },
    isThere: async ({ token, path }) => (await isFile(path)) || (await (await store()).find(token)) !== null,
    use: async (file, work) => (await store()).use(file, work),
    remove,
    async clear() {
      await scanned(0);
      const isOld = (time: number) => Date.now() - time > MAX_AGE;
      const failed: unknown[] = [];
      for (const file of kept.all()) if (isOld(file.keptAt)) await remove(file).catch((error) => failed.push(error));
      for (const name of await readdir(folder).catch(() => [])) {
        const [match, token] = fileName.exec(name) ?? [];
        if (match === undefined || (token && kept.has(token))) continue;
        const path = join(folder, name);
        const found = await stat(path).catch(() => null);
        if (found && isOld(found.mtimeMs)) await rm(path, { force: true, recursive: true });
      }
      // They are tried again the next time; none keeps the others from it.
      if (failed.length > 0) throw failed[0];
    },
  };
}

/** As `pixelsOf`. */
async function measured(path: string, mime: string): Promise<number | null | 'unreadable'> {
  try {
    return await pixelsOf(path, mime);
  } catch (error) {
    if (error instanceof UnreadablePicture) return 'unreadable';
    throw error;
  }
}

/** Writes a stream up to its limit, and reads the rest without keeping it. */
async function write(file: FileHandle, stream: AsyncIterable<Buffer>, maxSize: number) {
  const heads: Buffer[] = [];
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of stream) {
    if (size < HEAD) heads.push(Buffer.from(chunk.subarray(0, HEAD - size)));
    size += chunk.length;
    if (size > maxSize) continue;
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  return { head: Buffer.concat(heads), size, digest: hash.digest('base64url') };
}
