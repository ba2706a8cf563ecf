/**
 * Builds the plugin into dist/ and schemas/: `node build.mjs` everything that is published. Without type declarations, in under a second:
 * `node build.mjs --fast` everything but the admin panel's part, `node build.mjs --panel` that part. `--silent` keeps the
 * tools from reporting.
 *
 *   dist/server/index.js     Strapi's part (index.mjs: the same, for who imports it as a module)
 *   dist/server/worker.js    the processes for work that can be ended
 *   dist/admin/index.mjs     the admin panel's part (index.js: the same as CommonJS)
 *   dist/sandbox/runner.js   the process that holds the isolates
 *   dist/browser/apps.js     the visitor's script
 *   dist/browser/live.js     its second part, for pages with blocks that refresh themselves
 *   dist/browser/reload.js   reloads pages that the command `dev` serves
 *   dist/browser/apps.css    optional styles for a theme
 *   dist/cli/index.js        the command line (bin/strapi-plugin-apps.js)
 *   dist/testing/            the process that runs the tests of apps (testing/src/main.ts), and its types
 *   dist/shared/context*.d.ts the types of what logic gets
 *   schemas/                 JSON Schemas of a theme's YAML files, for editors
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildAdmin } from './admin/build.mjs';
import { buildCli } from './cli/build.mjs';
import { removeUnusedDeclarations } from './declarations.mjs';
import { buildRunner } from './sandbox/build.mjs';
import { buildSchemas, buildServer, buildWorker } from './server/build.mjs';
import { buildReporter, buildTesting } from './testing/build.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [fast, panel, silent] = ['--fast', '--panel', '--silent'].map((option) => process.argv.includes(option));

/** `browser/src/package.json` says that its files are modules: of others esbuild makes functions, which are longer. */
const buildBrowser = (entryPoint, define) => (outfile) =>
  build({
    define: define?.(dirname(outfile)),
    absWorkingDir: here,
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    logLevel: 'warning',
    platform: 'browser',
    target: 'es2020',
    format: 'iife',
    minify: true,
  });

/** The version of the second script, which the first one has in its address (server/src/common/assets.ts). */
const liveVersion = (folder) => {
  const content = readFileSync(join(folder, 'live.js'));
  return { LIVE_VERSION: JSON.stringify(createHash('sha256').update(content).digest('base64url').slice(0, 22)) };
};

/** The programs that esbuild makes, by their files in dist/. */
const programs = {
  'server/index.js': buildServer,
  'server/worker.js': buildWorker,
  'sandbox/runner.js': buildRunner,
  'browser/live.js': buildBrowser('browser/src/live/index.ts'),
  'browser/apps.js': buildBrowser('browser/src/index.ts', liveVersion),
  'browser/reload.js': buildBrowser('browser/src/reload.ts'),
  'browser/apps.css': buildBrowser('browser/src/apps.css'),
  'cli/index.js': buildCli,
  'testing/main.js': buildTesting,
  'testing/reporter.mjs': buildReporter,
};

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
  const folders = ['shared', join('shared', 'query')];
  const shared = folders
    .flatMap((folder) => readdirSync(join(here, folder)).map((file) => join(folder, file)))
    .filter((file) => /(?<!\.test)\.ts$/.test(file));
  const options = '--declaration --emitDeclarationOnly --skipLibCheck --strict --target ES2022 --outDir dist/shared';
  runBin('typescript', 'bin/tsc', [...options.split(' '), ...shared]);
}

/** All programs but the admin panel's, with what editors and tests of apps read. */
async function buildPrograms() {
  // Types of the logic's `context`, for editors: the package's export `./context`.
  mkdirSync(join(here, 'dist', 'shared'), { recursive: true });
  for (const file of ['context.d.ts', 'context-calls.d.ts', 'globals.d.ts'])
    copyFileSync(join(here, 'shared', file), join(here, 'dist', 'shared', file));
  mkdirSync(join(here, 'dist', 'testing'), { recursive: true });
  for (const file of ['index.js', 'index.d.ts'])
    copyFileSync(join(here, 'testing', file), join(here, 'dist', 'testing', file));
  for (const [file, make] of Object.entries(programs)) {
    // The full build has made it with Strapi's tool.
    if (fast || make !== buildServer) await make(join(here, 'dist', file));
  }
  await buildSchemas(join(here, 'schemas'));
}

// The names of chunks are new with each build.
if (!fast) rmSync(join(here, 'dist', 'admin'), { recursive: true, force: true });
if (panel) {
  await buildAdmin(join(here, 'dist', 'admin'));
} else {
  if (!fast) buildPackage();
  await buildPrograms();
  const entries = ['server/src/index.d.ts', 'shared/context.d.ts', 'shared/globals.d.ts', 'testing/index.d.ts'];
  const dist = join(here, 'dist');
  if (!fast)
    removeUnusedDeclarations(
      dist,
      entries.map((file) => join(dist, file)),
    );
}
