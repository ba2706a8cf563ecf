import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HEAD, kindOf } from './kinds';
import { chosenName, cleanName, endingOf } from './names';
import { pixelsOf, UnreadablePicture } from './pixels';
import type { FileScope, RefusedFile, TemporaryFile } from './types';

/** Milliseconds for which a file waits for its record; then it is removed. */
const MAX_AGE = 2 * 60 * 60 * 1000;

/** Bytes of all files that this process keeps for forms with errors. */
const MAX_KEPT = 1024 ** 3;

const tokenPattern = /^[0-9a-f]{32}$/;
const fileName = /^(?:upload-[0-9a-f]{32}(?:\.json)?|picture-\w{6})$/;

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
  /** Keeps a file for the form's next submission. False when the kept files would exceed MAX_KEPT. */
  keep(file: TemporaryFile): Promise<boolean>;
  /** The kept file of a token, for the same field of the same app; null if there is none any more. */
  claim(token: string, scope: FileScope): Promise<TemporaryFile | null>;
  remove(file: TemporaryFile): Promise<void>;
  /** Removes what waits for too long, of all processes that share the folder. */
  clear(): Promise<void>;
}

/** @param maxPixels pixels of a picture, all its frames together */
export function createTemporaryFiles(folder: string, maxPixels: number): TemporaryFiles {
  const pathOf = (token: string) => join(folder, `upload-${token}`);
  const keptSizes = new Map<string, number>();
  const remove = async ({ token, path }: TemporaryFile) => {
    keptSizes.delete(token);
    await rm(path, { force: true });
    await rm(`${path}.json`, { force: true });
  };

  return {
    async receive(stream, name, maxSize, scope) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const token = randomBytes(16).toString('hex');
      const path = pathOf(token);
      const file = await open(path, 'wx', 0o600);
      let keeps = false;
      try {
        const { head, size } = await write(file, stream, maxSize);
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
          pixels,
        };
      } finally {
        await file.close();
        if (!keeps) await rm(path, { force: true });
      }
    },
    async keep(file) {
      if (keptSizes.has(file.token)) return true;
      const total = [...keptSizes.values()].reduce((sum, size) => sum + size, 0);
      if (total + file.size > MAX_KEPT) return false;
      keptSizes.set(file.token, file.size);
      setTimeout(() => void remove(file).catch(() => undefined), MAX_AGE).unref();
      await writeFile(`${file.path}.json`, JSON.stringify(file), { mode: 0o600 });
      return true;
    },
    async claim(token, scope) {
      if (!tokenPattern.test(token)) return null;
      const path = pathOf(token);
      const text = await readFile(`${path}.json`, 'utf8').catch(() => null);
      if (text === null || !(await stat(path).catch(() => null))) return null;
      const file = { ...(JSON.parse(text) as TemporaryFile), path };
      const isSame = file.site === scope.site && file.app === scope.app && file.field === scope.field;
      return isSame ? file : null;
    },
    remove,
    async clear() {
      const names = await readdir(folder).catch(() => []);
      for (const name of names) {
        if (!fileName.test(name)) continue;
        const path = join(folder, name);
        const found = await stat(path).catch(() => null);
        if (found && Date.now() - found.mtimeMs > MAX_AGE) await rm(path, { force: true, recursive: true });
      }
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
  let size = 0;
  for await (const chunk of stream) {
    if (size < HEAD) heads.push(Buffer.from(chunk.subarray(0, HEAD - size)));
    size += chunk.length;
    if (size <= maxSize) await file.writeFile(chunk);
  }
  return { head: Buffer.concat(heads), size };
}
