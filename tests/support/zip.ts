import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Files of a ZIP by their names. */
export type Entries = Record<string, string | Buffer | { text: string; mode: number }>;
export type Patch = (bytes: Buffer) => Buffer;

/**
 * A ZIP of these files. What a packer refuses to write is written by `patch`, which changes its bytes.
 * @param compress false: ZIPs of files of the same length have the same length
 */
export async function packed(entries: Entries, patch: Patch = (bytes) => bytes, compress = true): Promise<Buffer> {
  const made = new ZipFile();
  for (const [name, entry] of Object.entries(entries)) {
    const { text, mode } = typeof entry === 'object' && 'mode' in entry ? entry : { text: entry, mode: 0o100644 };
    made.addBuffer(Buffer.from(text as string), name, { mode, compress });
  }
  made.end();
  return patch(await buffer(made.outputStream));
}

/** Replaces a text of the same length everywhere. */
export const renaming =
  (from: string, to: string | Buffer): Patch =>
  (bytes) =>
    Buffer.from(bytes.toString('latin1').replaceAll(from, Buffer.from(to as string).toString('latin1')), 'latin1');
