import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes files by their paths below a folder, and makes the folders that they need. */
export async function writeFiles(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
