import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';

/** The package's own folder: the built programs are in its `dist/<program>/`. */
export const packageFolder = join(__dirname, '..', '..');

export const PACKAGE = 'strapi-plugin-apps';

/** The package's package.json. */
export const manifest = (): { version: string } =>
  JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };

/** The texts of all files below a folder of the package, by relative path with `/`. */
export function filesBelow(...names: string[]): Map<string, string> {
  const folder = join(packageFolder, ...names);
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return new Map(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path.split(sep).join('/'), readFileSync(join(folder, path), 'utf8')]),
  );
}

/** Names of the folders in a folder of the package. */
export function foldersOf(name: string): string[] {
  const entries = readdirSync(join(packageFolder, name), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

const words = new Map<string, string[]>();

/** The keys and fixed values that a JSON Schema of the package names; read once. */
export function schemaWords(name: 'definition' | 'settings'): string[] {
  const known = words.get(name);
  if (known) return known;
  const found = new Set<string>();
  collect(JSON.parse(readFileSync(join(packageFolder, 'schemas', `${name}.json`), 'utf8')), found);
  words.set(name, [...found].sort());
  return schemaWords(name);
}

function collect(schema: unknown, found: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') for (const property of Object.keys(value)) found.add(property);
    if (key === 'enum' || key === 'const')
      for (const one of [value].flat()) if (typeof one === 'string' && one !== '') found.add(one);
    collect(value, found);
  }
}

/** The folder of the schemas as files of `from` name it: in the nearest `node_modules`, else where the package is. */
export function schemasFolder(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', PACKAGE, 'schemas');
    if (existsSync(found)) return found;
    if (dirname(folder) === folder) return join(packageFolder, 'schemas');
  }
}

/** The schema of a YAML file of a theme, by the file's path in it. */
const schemas: readonly [RegExp, string][] = [
  [/^theme\.yaml$/, 'theme'],
  [/^rules\.yaml$/, 'rules'],
  [/(^|\/)settings\.yaml$/, 'settings'],
  [/(^|\/)blocks\/[^/]+\.ya?ml$/, 'definition'],
];

/** A path between two files as a configuration names it: with `/`, and a dot at its beginning. */
export function relativePath(from: string, to: string): string {
  const path = relative(from, to).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}

/**
 * The text with a first line that names its JSON Schema, where it has one (docs/reference/definitions.md#in-an-editor).
 * @param file absolute path at which the text is written; @param path the same inside of its theme
 */
export function withSchemaLine(file: string, path: string, text: string): string {
  const name = schemas.find(([pattern]) => pattern.test(path))?.[1];
  if (name === undefined) return text;
  const schema = posix.join(relativePath(dirname(file), schemasFolder(dirname(file))), `${name}.json`);
  return `# yaml-language-server: $schema=${schema}\n${text}`;
}
