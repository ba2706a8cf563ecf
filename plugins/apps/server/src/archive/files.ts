import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the regular files below a folder, with `/`, sorted. Hidden files, and links, are left out. */
export function filesBelow(folder: string, skipped: (path: string) => void = () => undefined): string[] {
  const walk = (path: string): string[] =>
    readdirSync(join(folder, path))
      .sort()
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) => {
        const own = path === '' ? name : `${path}/${name}`;
        const info = lstatSync(join(folder, own));
        if (info.isDirectory()) return walk(own);
        if (info.isFile()) return [own];
        skipped(own);
        return [];
      });
  return walk('');
}

/** How the files of a folder differ from those of another one. */
export interface Differences {
  added: string[];
  changed: string[];
  removed: string[];
}

/** What changes when the folder `before` becomes the folder `after`, which has no links. A link in `before` counts as another file. */
export function differences(before: string, after: string): Differences {
  const links: string[] = [];
  const regular = new Set(filesBelow(before, (path) => links.push(path)));
  const fresh = filesBelow(after);
  const known = new Set([...regular, ...links].sort());
  const kept = new Set(fresh);
  return {
    added: fresh.filter((path) => !known.has(path)),
    changed: fresh.filter(
      (path) => known.has(path) && !(regular.has(path) && areEqual(join(before, path), join(after, path))),
    ),
    removed: [...known].filter((path) => !kept.has(path)),
  };
}

const areEqual = (one: string, other: string): boolean =>
  statSync(one).size === statSync(other).size && readFileSync(one).equals(readFileSync(other));
