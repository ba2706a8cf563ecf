import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ZipFile } from 'yauzl';
import type { Contents } from './contents';

/**
 * Writes the files of a ZIP into a new folder. The reader stops at a file that is larger than it says; throws its Error.
 * @param show gets the number of files
 */
export async function unpack(
  zip: ZipFile,
  files: Contents['files'],
  folder: string,
  show: (done: number) => void,
): Promise<void> {
  let done = 0;
  mkdirSync(folder, { recursive: true });
  for (const [path, { entry }] of files) {
    const target = join(folder, ...path.split('/'));
    mkdirSync(dirname(target), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { flags: 'wx', mode: 0o644 }));
    done += 1;
    show(done);
  }
}
