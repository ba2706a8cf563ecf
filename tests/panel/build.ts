import { build, writeSecrets } from '../../scripts/prepare.mjs';

/** Vitest's global set-up of the panel's tests: the plugin and the host with its admin panel are built, if they are stale. */
export default function setup(): void {
  writeSecrets();
  build('plugin', 'host', 'panel', 'testDatabase');
}
