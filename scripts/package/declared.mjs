/**
 * Packages that the plugin's sources import and its package.json does not name: a package manager that does not hoist
 * (pnpm, Yarn PnP) would not find them.
 */
import { builtinModules } from 'node:module';
import { sourcesOf } from '../check-imports.mjs';

/** The package of a bare specifier; null for a relative one, a module of Node.js and those that the build makes (`apps:…`). */
export function packageOf(specifier) {
  if (specifier.startsWith('.') || /^\w+:/.test(specifier) || builtinModules.includes(specifier)) return null;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Whether this package.json makes an import work: `@types/x` is enough for types of `x`. */
function isDeclared({ name, dependencies, optionalDependencies, peerDependencies }, wanted, typeOnly) {
  const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies };
  return wanted === name || wanted in declared || (typeOnly && `@types/${wanted}` in declared);
}

/** Messages about imports that package.json does not declare. @param sources as `sourcesOf` gives them */
export function undeclared(manifest, sources) {
  return sources.flatMap(({ path, imports }) =>
    imports
      .map((one) => ({ ...one, wanted: packageOf(one.specifier) }))
      .filter(({ wanted, typeOnly }) => wanted !== null && !isDeclared(manifest, wanted, typeOnly))
      .map(({ wanted, line }) => `${path}:${line}: '${wanted}' is not in package.json`),
  );
}

/** Dependencies that no source imports. */
export function unused({ dependencies }, sources) {
  const used = new Set(sources.flatMap(({ imports }) => imports.map(({ specifier }) => packageOf(specifier))));
  return Object.keys(dependencies).filter((name) => !used.has(name.replace(/^@types\//, '')));
}

/** Both lists for the plugin in a folder. */
export function dependencyProblems(plugin, manifest) {
  const { sources } = sourcesOf(plugin);
  return [
    ...undeclared(manifest, sources),
    ...unused(manifest, sources).map((name) => `'${name}' is in package.json, and nothing imports it`),
  ];
}
