import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import typescript from 'typescript';

/** The declaration file of an import, or undefined for one of a package. */
const declarationOf = (from, name) =>
  name.startsWith('.')
    ? [`${name}.d.ts`, join(name, 'index.d.ts'), name.replace(/\.js$/, '.d.ts')]
        .map((path) => join(dirname(from), path))
        .find(existsSync)
    : undefined;

/**
 * Removes the type declarations that no entry of the package imports, directly or through others: a third of what TypeScript
 * writes, and so of the files that each host installs.
 * @param folder what is published
 * @param entries paths of the declarations that package.json names
 */
export function removeUnusedDeclarations(folder, entries) {
  const used = new Set(entries);
  for (const path of used) {
    const { importedFiles, referencedFiles } = typescript.preProcessFile(readFileSync(path, 'utf8'));
    for (const { fileName } of [...importedFiles, ...referencedFiles]) {
      const found = declarationOf(path, fileName);
      if (found) used.add(found);
    }
  }
  for (const path of readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    if (path.endsWith('.d.ts') && !used.has(path)) rmSync(path);
}
