import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

const manifest = JSON.parse(readFileSync(at('../package.json'), 'utf8'));
const external = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
  Object.keys(manifest[kind] ?? {}),
);

/** Bundles a program for Node.js; `source` is relative to this folder. */
export const bundle = (source, outfile, options) =>
  build({
    entryPoints: [at(source)],
    outfile,
    bundle: true,
    logLevel: 'warning',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external,
    ...options,
  });

/** Builds Strapi's part (CommonJS, for Node) into the file `outfile`; packages stay dependencies. */
export const buildServer = (outfile) => bundle('src/index.ts', outfile, { sourcemap: true });

/** Builds the program of the worker processes (workers/), or a test's own, into the file `outfile`. */
export const buildWorker = (outfile, source = 'src/worker.ts') => bundle(source, outfile);

/** Writes the JSON Schemas of a theme's YAML files into a folder, from the schemas with which the server reads them. */
export async function buildSchemas(folder) {
  const program = at('../dist/json-schemas.cjs');
  await bundle('src/apps/json-schemas.ts', program);
  mkdirSync(folder, { recursive: true });
  const { jsonSchemas } = createRequire(import.meta.url)(program);
  for (const [name, text] of jsonSchemas()) writeFileSync(join(folder, name), text);
  rmSync(program);
}
