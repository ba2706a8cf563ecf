import { readFileSync, statSync } from 'node:fs';
import Module from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { transform } from 'sucrase';

type CompiledModule = Module & { _compile(code: string, file: string): void };

const { _nodeModulePaths: pathsOf } = Module as unknown as { _nodeModulePaths(folder: string): string[] };

/** Files that tests may import, by their endings; the first that exists. */
const endings = ['', '.ts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

/**
 * Loads a test file, JavaScript or TypeScript with `import`, and the app's files that it imports. Every call loads them
 * again, so that files do not share state. Lines stay where they are: a stack names the author's file.
 * @param given modules by the names under which tests import them
 * @throws SyntaxError, with the position in the message; and what the file itself throws
 */
export function loadTestFile(file: string, given: Readonly<Record<string, unknown>>): void {
  const loaded = new Map<string, CompiledModule>();

  const load = (path: string): unknown => {
    const known = loaded.get(path);
    if (known) return known.exports;
    const module = new Module(path) as CompiledModule;
    loaded.set(path, module);
    module.filename = path;
    module.paths = pathsOf(dirname(path));
    const usual = module.require.bind(module);
    module.require = ((name: string) => {
      if (Object.hasOwn(given, name)) return given[name];
      if (!/^\.{1,2}(\/|$)/.test(name)) return usual(name);
      const found = existing(resolve(dirname(path), name));
      if (!found) throw new Error(`Cannot find "${name}", which ${path} imports`);
      return extname(found) === '.json' ? usual(found) : load(found);
    }) as NodeJS.Require;
    module._compile(compiled(path), path);
    module.loaded = true;
    return module.exports;
  };
  load(file);
}

function compiled(path: string): string {
  const isTypeScript = path.endsWith('.ts');
  return transform(readFileSync(path, 'utf8'), {
    transforms: isTypeScript ? ['typescript', 'imports'] : ['imports'],
    filePath: path,
    disableESTransforms: true,
  }).code;
}

function existing(path: string): string | undefined {
  return endings.map((ending) => join(path + ending)).find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
}
