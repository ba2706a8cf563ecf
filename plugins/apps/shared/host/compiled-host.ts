import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type TypeScript from 'typescript';

/**
 * The folder of a host's compiled files: of `tsconfig.json` if every output is newer than its source, the host's own if it is
 * written in JavaScript; null if it must be compiled. A host that is compiled is not compiled again: Strapi writes all files,
 * a server that starts at that moment reads half of one, and the file system of an image is read-only.
 * @param root absolute path of the host
 */
export function compiledFolder(root: string): string | null {
  const file = join(root, 'tsconfig.json');
  if (!existsSync(file)) return root;
  try {
    const ts = createRequire(file)('typescript') as typeof TypeScript;
    const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent(config, ts.sys, root, undefined, file);
    const { outDir } = parsed.options;
    if (error || parsed.errors.length > 0 || !outDir) return null;
    const isCompiled = (source: string) =>
      ts
        .getOutputFileNames(parsed, source, !ts.sys.useCaseSensitiveFileNames)
        .every((output) => isNewer(output, source) && isNewer(output, file));
    return parsed.fileNames.every(isCompiled) ? outDir : null;
  } catch {
    // An output is missing, or the host's TypeScript is not where it is looked for.
    return null;
  }
}

const isNewer = (output: string, source: string) => statSync(output).mtimeMs >= statSync(source).mtimeMs;
