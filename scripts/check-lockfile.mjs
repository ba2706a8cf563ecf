/**
 * Checks that every machine can install from package-lock.json: it names no registry, and it has every optional
 * package of other platforms. npm leaves those out where its registry does not carry them, and `npm ci` then
 * refuses the lockfile everywhere. `--fix` adds them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** The lockfile's entry for a package of another platform, whose name says which: `@rollup/rollup-linux-x64-musl`. */
export function platformEntry(name, version, dev) {
  const words = name.split(/[-/]/);
  const [os, cpu] = [systems, processors].map((known) => words.filter((word) => known.includes(word)));
  const libc = ['musl', 'musleabihf'].some((word) => words.includes(word)) ? ['musl'] : undefined;
  return { version, cpu, ...(dev ? { dev } : {}), libc, optional: true, os };
}

/** Paths at which npm looks for a package that `from` depends on, nearest first. */
function pathsOf(from, name) {
  const paths = from === '' ? [] : [`${from}/node_modules/${name}`];
  for (let folder = from; folder.includes('node_modules'); ) {
    folder = folder.slice(0, folder.lastIndexOf('node_modules'));
    paths.push(`${folder}node_modules/${name}`);
  }
  // The host's own dependencies, and those of a workspace, which is in no folder `node_modules`.
  return [...new Set([...paths, `node_modules/${name}`])];
}

/** Optional packages that the lockfile's packages name, with a fixed version, and that have no entry. */
export function missingEntries(packages) {
  return Object.entries(packages).flatMap(([from, { optionalDependencies = {}, dev }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, version]) => /^\d/.test(version) && !pathsOf(from, name).some((path) => packages[path]))
      .map(([name, version]) => ({ path: pathsOf(from, name).at(-1), name, version, dev })),
  );
}

/** The errors of a lockfile, as messages. */
export function problemsOf({ packages }) {
  const hosts = Object.entries(packages).filter(([, { resolved }]) => /^\w+:\/\//.test(resolved ?? ''));
  return [
    ...hosts.map(([path]) => `${path} names the registry it came from`),
    ...missingEntries(packages).map(({ name, version }) => `${name} ${version}, of another platform, is missing`),
  ];
}

/** The lockfile with every missing optional package added, in npm's order. */
export function completed(lockfile) {
  const packages = { ...lockfile.packages };
  for (const { path, name, version, dev } of missingEntries(packages)) {
    packages[path] = platformEntry(name, version, dev);
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lockfile, packages: Object.fromEntries(sorted) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
  const lockfile = JSON.parse(readFileSync(file, 'utf8'));
  if (process.argv.includes('--fix')) {
    writeFileSync(file, `${JSON.stringify(completed(lockfile), null, 2)}\n`);
  } else {
    const problems = problemsOf(lockfile);
    for (const problem of problems) console.error(`package-lock.json: ${problem}`);
    if (problems.length > 0) console.error('Fix it with: node scripts/check-lockfile.mjs --fix');
    process.exitCode = problems.length > 0 ? 1 : 0;
  }
}
