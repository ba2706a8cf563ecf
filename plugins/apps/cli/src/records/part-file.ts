import { once } from 'node:events';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { CannotRun } from '../exit';

/**
 * Writes a file that others see when it is complete, and never in part: `<file>.part` is renamed at the end, and deleted
 * when `work` fails. Only its owner may read it. Throws CannotRun where the file cannot be written.
 */
export async function writeWhole<T>(
  file: string,
  work: (write: (piece: string | Buffer) => Promise<void>) => Promise<T>,
): Promise<T> {
  const part = `${file}.part`;
  const out = createWriteStream(part, { mode: 0o600 });
  let failure: Error | undefined;
  out.on('error', (error) => {
    failure = new CannotRun(`${file} cannot be written: ${error.message}`);
  });
  try {
    const result = await work(async (piece) => {
      if (failure) throw failure;
      // A stream that fails does not drain: `failure` is then set.
      if (!out.write(piece)) await once(out, 'drain').catch(() => undefined);
    });
    out.end();
    await finished(out).catch((error) => {
      throw failure ?? error;
    });
    renameSync(part, file);
    return result;
  } catch (error) {
    out.destroy();
    rmSync(part, { force: true });
    throw failure ?? error;
  }
}
