/**
 * Writes the JSON Schemas of a theme's YAML files to plugins/apps/schemas/, from the schemas with which the server reads
 * them: `npm run schemas`. A test fails when they are stale.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
// In the plugin's folder, so that it finds the plugin's versions of its packages.
const bundle = join(root, 'plugins', 'apps', 'node_modules', '.cache', 'json-schemas.cjs');

await build({
  entryPoints: [join(root, 'plugins', 'apps', 'server', 'src', 'apps', 'json-schemas.ts')],
  outfile: bundle,
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'cjs',
});
const { jsonSchemas } = createRequire(import.meta.url)(bundle);
const folder = join(root, 'plugins', 'apps', 'schemas');
mkdirSync(folder, { recursive: true });
for (const [name, text] of jsonSchemas()) writeFileSync(join(folder, name), text);
