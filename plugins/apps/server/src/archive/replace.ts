import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmdirSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArchiveError } from './errors';

/** Whether there is a file, a folder or a link, also one that leads nowhere. */
export const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * Renames the folder `fresh` to `target`. What is there is replaced; its hidden files stay
 * (docs/reference/import-export.md#apps-and-themes-as-zip). Throws ArchiveError; the old folder is then at `target` or where
 * the message says, and is never deleted.
 * @param base folder for the old folder meanwhile, on the same file system
 */
export async function putInPlace(fresh: string, target: string, base: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  if (!exists(target)) {
    renameSync(fresh, target);
    return;
  }
  const holder = mkdtempSync(join(base, '.replaced-'));
  const aside = join(holder, 'old');
  try {
    renameSync(target, aside);
    renameSync(fresh, target);
    await keepHidden(aside, target);
  } catch (error) {
    throw new ArchiveError(
      `${target} cannot be replaced: ${(error as Error).message}`,
      restored(aside, target, holder),
    );
  }
  await rm(holder, { recursive: true, force: true });
}

/** Moves hidden files and folders, such as those of a version control: they are in no ZIP. */
async function keepHidden(from: string, to: string): Promise<void> {
  if (!(await lstat(from)).isDirectory()) return;
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [old, kept] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name.startsWith('.')) {
      await mkdir(to, { recursive: true });
      await rename(old, kept);
    } else if (entry.isDirectory()) await keepHidden(old, kept);
  }
}

/** Puts the old folder back, else beside the new one. Returns a sentence where it is not at `target`. */
function restored(aside: string, target: string, holder: string): string | undefined {
  if (!exists(aside)) {
    rmdirSync(holder);
    return undefined;
  }
  for (const place of [target, `${target}.old`]) {
    if (exists(place)) continue;
    try {
      renameSync(aside, place);
      rmdirSync(holder);
      return place === target ? undefined : `The old folder is ${place}.`;
    } catch {
      // The next one, or it stays aside.
    }
  }
  return `The old folder is ${aside}.`;
}
