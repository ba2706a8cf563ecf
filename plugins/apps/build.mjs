/**
 * Builds the plugin into dist/: `node build.mjs` everything that is published, `node build.mjs --fast` the same without
 * the admin panel and without type declarations, in under a second. `--silent` keeps the tools from reporting.
 *
 *   dist/server/index.js     Strapi's part (index.mjs: the same, for who imports it as a module)
 *   dist/admin/index.js      the admin panel's part (full build only)
 *   dist/sandbox/runner.js   the process that holds the isolates
 *   dist/browser/apps.js     the visitor's script
 *   dist/shared/context.d.ts the types of what logic gets
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildRunner } from './sandbox/build.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const dependencies = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
  Object.keys(manifest[kind] ?? {}),
);

const [fast, silent] = ['--fast', '--silent'].map((option) => process.argv.includes(option));

/** The programs that esbuild makes; one whose source is missing is left out. */
const programs = {
  server: {
    source: 'server/src/index.ts',
    make: (source) =>
      bundle(source, 'dist/server/index.js', {
        platform: 'node',
        target: 'node20',
        format: 'cjs',
        external: dependencies,
        sourcemap: true,
      }),
  },
  sandbox: { source: 'sandbox/src/runner.ts', make: () => buildRunner(join(here, 'dist/sandbox/runner.js')) },
  browser: {
    source: 'browser/src/index.ts',
    make: (source) =>
      bundle(source, 'dist/browser/apps.js', { platform: 'browser', target: 'es2020', format: 'iife', minify: true }),
  },
};

const bundle = (source, outfile, options) =>
  build({
    absWorkingDir: here,
    entryPoints: [source],
    outfile,
    bundle: true,
    logLevel: 'warning',
    ...options,
  });

async function make(name) {
  const { source, make } = programs[name];
  if (existsSync(join(here, source))) await make(source);
}

/** Runs a package's command line program to its end; ends this one when it fails. */
function runBin(name, bin, args) {
  const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  const { status } = spawnSync(process.execPath, [join(folder, bin), ...args], { cwd: here, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** The server's and the admin panel's part as Strapi's own tool makes them, with the type declarations of both. */
function buildPackage() {
  runBin('@strapi/sdk-plugin', 'bin/strapi-plugin.js', silent ? ['build', '--silent'] : ['build']);
  // Two copies of the server would have two states; and only CommonJS knows the folder it stands in.
  const asModule = "import plugin from './index.js';\n\nexport default plugin.default;\n";
  writeFileSync(join(here, 'dist', 'server', 'index.mjs'), asModule);
  // The tool leaves out what the declarations of the server import from shared/.
  const shared = readdirSync(join(here, 'shared')).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const options = '--declaration --emitDeclarationOnly --skipLibCheck --strict --target ES2022 --outDir dist/shared';
  runBin('typescript', 'bin/tsc', [...options.split(' '), ...shared.map((file) => join('shared', file))]);
}

if (!fast) buildPackage();
// Types of the logic's `context`, for editors: the package's export `./context`.
mkdirSync(join(here, 'dist', 'shared'), { recursive: true });
copyFileSync(join(here, 'shared', 'context.d.ts'), join(here, 'dist', 'shared', 'context.d.ts'));
for (const name of fast ? ['server', 'sandbox', 'browser'] : ['sandbox', 'browser']) await make(name);
