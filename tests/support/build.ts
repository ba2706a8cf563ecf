import { build, writeSecrets } from '../../scripts/prepare.mjs';

/** Vitest's global set-up of the end-to-end tests: what a host needs is built once, if it is stale. */
export default function setup(): void {
  writeSecrets();
  build('pluginServer', 'host', 'testDatabase');
}
