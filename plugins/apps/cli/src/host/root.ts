import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder at or above `from` whose package.json depends on Strapi; null if there is none. */
export function findRoot(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (dependsOnStrapi(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

function dependsOnStrapi(file: string): boolean {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, 'utf8'));
    return '@strapi/strapi' in { ...dependencies, ...devDependencies };
  } catch {
    return false;
  }
}
