import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Files of all themes together that are looked at; a change of others is not seen. */
const MAX_FILES = 20_000;

/** Folders inside each other; a link that leads back ends here. */
const MAX_DEPTH = 12;

/**
 * A text that differs when a file of any theme has been added, changed or removed, assets included. Links are followed, as
 * themes and apps may be linked. Asks the disk for each file, so it is for development only.
 * @param directory the themes folder; it may be missing
 */
export async function themesVersion(directory: string): Promise<string> {
  const found: string[] = [];
  await collect(directory, '', 0, found);
  return found.sort().join('\n');
}

async function collect(directory: string, path: string, depth: number, found: string[]): Promise<void> {
  const names = await readdir(join(directory, path)).catch(() => []);
  for (const name of names) {
    if (name.startsWith('.') || name === 'node_modules' || found.length >= MAX_FILES) continue;
    const file = join(path, name);
    const info = await stat(join(directory, file), { bigint: true }).catch(() => null);
    if (info?.isDirectory() && depth < MAX_DEPTH) await collect(directory, file, depth + 1, found);
    else if (info?.isFile()) found.push(`${file}:${info.size}:${info.mtimeNs}`);
  }
}
