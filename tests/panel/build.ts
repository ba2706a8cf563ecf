import { cpSync } from 'node:fs';
import path from 'node:path';
import { build, root, writeSecrets } from '../../scripts/prepare.mjs';

/** Vitest's global set-up of the panel's tests: the plugin and the host with its admin panel are built, if they are stale. */
export default function setup(): void {
  writeSecrets();
  build('pluginServer', 'pluginPanel', 'host', 'panel', 'testDatabase');
  // `strapi develop` deletes the panel of dist/, from which the tests' hosts run.
  cpSync(path.join(root, 'build', 'build'), path.join(root, 'dist', 'build'), { recursive: true });
}
