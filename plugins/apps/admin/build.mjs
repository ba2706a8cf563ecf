import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** By extension: modules with their chunks, which the panel loads, and CommonJS, by which Strapi finds that there is a part. */
const formats = { '.mjs': { format: 'esm', splitting: true }, '.js': { format: 'cjs' } };

/** Builds the admin panel's part into a folder; packages stay imports. */
export async function buildAdmin(outdir) {
  for (const [extension, format] of Object.entries(formats)) {
    await build({
      absWorkingDir: dirname(fileURLToPath(import.meta.url)),
      entryPoints: ['src/index.tsx'],
      outdir,
      outExtension: { '.js': extension },
      bundle: true,
      packages: 'external',
      logLevel: 'warning',
      platform: 'browser',
      // With a later one esbuild exports each text of a language by its name, which Strapi's build refuses.
      target: 'es2020',
      jsx: 'automatic',
      ...format,
    });
  }
}
