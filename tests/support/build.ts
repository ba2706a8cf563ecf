import { build, writeSecrets } from '../../scripts/prepare.mjs';
import { dropTemplates } from './template';

/** Vitest's global set-up of the end-to-end tests: what a host needs is built once, if it is stale. */
export default async function setup(): Promise<() => Promise<void>> {
  // Of a run that was killed, and whose process had the same number.
  await dropTemplates();
  writeSecrets();
  build('pluginServer', 'host', 'testDatabase', 'lastRelease');
  return dropTemplates;
}
