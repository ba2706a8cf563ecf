import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** The time of every file of a ZIP, so that equal files make equal ZIPs. */
const mtime = new Date(2000, 0, 1);

/**
 * A ZIP of files of a folder, below the folder `root`. A file that cannot be read ends the stream with its error.
 * @param paths as `filesBelow` gives them
 */
export function packed(folder: string, root: string, paths: readonly string[]): Readable {
  const zip = new ZipFile();
  const stream = zip.outputStream as Readable;
  // Errors of the files that are read are events of the ZIP, not of its stream.
  zip.once('error', (error: Error) => stream.destroy(error));
  for (const path of paths)
    zip.addFile(join(folder, path), `${root}/${path}`, { mtime, mode: 0o100644, forceDosTimestamp: true });
  zip.end();
  return stream;
}
