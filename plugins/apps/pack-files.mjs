/**
 * Files that the package holds and the repository has elsewhere: `node pack-files.mjs add` copies them here before npm packs,
 * `remove` deletes the copies. npm runs both (package.json: prepack, postpack).
 */
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Of the pictures only the one that the package's README shows; the others are for the repository's. */
const isPacked = (path) => !path.endsWith('.png') || path.endsWith('article.png');

for (const name of ['CHANGELOG.md', 'docs']) {
  rmSync(at(name), { recursive: true, force: true });
  if (process.argv[2] === 'add') cpSync(at(`../../${name}`), at(name), { recursive: true, filter: isPacked });
}
