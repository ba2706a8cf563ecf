import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = (path) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Programs that run inside of isolates, by the names under which the runner imports their text. */
const inside = { 'apps:prelude': 'prelude/index.ts', 'apps:python': 'python/index.ts' };

/** Bundles a program into the text of one expression whose value is its `start` function. */
async function bundleInside(name) {
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
  });
  return `(() => { ${result.outputFiles[0].text}; return program.start; })()`;
}

const insidePlugin = {
  name: 'inside',
  setup(bundler) {
    bundler.onResolve({ filter: /^apps:/ }, (args) => ({ path: args.path, namespace: 'inside' }));
    bundler.onLoad({ filter: /.*/, namespace: 'inside' }, async ({ path }) => ({
      contents: await bundleInside(path),
      loader: 'text',
    }));
  },
};

/** Builds the runner program (CommonJS, for Node) into the file `outfile`; isolated-vm and MicroPython stay dependencies. */
export function buildRunner(outfile) {
  return build({
    entryPoints: [source('runner.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['isolated-vm-*', '@micropython/*'],
    loader: { '.py': 'text' },
    plugins: [insidePlugin],
    legalComments: 'none',
  });
}
