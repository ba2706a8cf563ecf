/**
 * The command line of the plugin on this host, whose server may run or not (docs/reference/command-line.md), after what it
 * needs is built: `npm run apps -- export site rating rating.ndjson`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build, checkNode, root, writeSecrets } from './prepare.mjs';

// Standard output belongs to the command.
console.log = console.error;
try {
  checkNode();
  writeSecrets();
  build('pluginServer', 'host');
} catch (error) {
  console.error(`> ${error.message}`);
  process.exit(2);
}
const program = join(root, 'plugins', 'apps', 'bin', 'strapi-plugin-apps.js');
// Only the server makes the demo.
const env = { ...process.env, APPS_DEMO: 'false' };
const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit', env });
process.exit(status ?? 2);
