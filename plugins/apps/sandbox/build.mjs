import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = (path) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Generates the parts of the preludes that follow from the server's table of host functions. */
const hostFunctions = fileURLToPath(new URL('../server/src/logic/host-functions/generated.ts', import.meta.url));

/** Runs a module of the server's source. */
async function evaluate(path) {
  const options = { bundle: true, write: false, format: 'cjs', platform: 'node', packages: 'external' };
  const { outputFiles } = await build({ entryPoints: [path], ...options });
  const module = { exports: {} };
  new Function('module', 'exports', 'require', outputFiles[0].text)(
    module,
    module.exports,
    createRequire(import.meta.url),
  );
  return module.exports;
}

/** Modules made from the table of host functions, by the names under which the preludes and the runner import them. */
const generated = {
  'apps:host-functions': async () => ({ contents: (await evaluate(hostFunctions)).javascriptModule(), loader: 'js' }),
  'apps:python-calls': async () => ({ contents: (await evaluate(hostFunctions)).pythonModule(), loader: 'text' }),
};

/** Programs that run inside of isolates, by the names under which the runner imports their text. */
const inside = { 'apps:prelude': 'prelude/index.ts', 'apps:python': 'python/index.ts' };

/** Bundles a program into the text of one expression whose value is its `start` function. */
export async function bundleInside(name) {
  const result = await build({
    entryPoints: [source(inside[name])],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'program',
    target: 'es2022',
    platform: 'neutral',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    plugins: [insidePlugin],
  });
  // Strict: no function has a `caller`, and what a stack holds does not lead to one.
  return `(() => { "use strict"; ${result.outputFiles[0].text}; return program.start; })()`;
}

const insidePlugin = {
  name: 'inside',
  setup(bundler) {
    bundler.onResolve({ filter: /^apps:/ }, (args) => ({ path: args.path, namespace: 'inside' }));
    bundler.onLoad({ filter: /.*/, namespace: 'inside' }, async ({ path }) =>
      generated[path] ? generated[path]() : { contents: await bundleInside(path), loader: 'text' },
    );
  },
};

/** Builds the runner program (CommonJS, for Node) into the file `outfile`; isolated-vm and Python stay packages of their own. */
export function buildRunner(outfile) {
  return build({
    entryPoints: [source('runner.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['isolated-vm', 'isolated-vm-7', 'strapi-plugin-apps-*'],
    loader: { '.py': 'text' },
    plugins: [insidePlugin],
    legalComments: 'none',
  });
}
