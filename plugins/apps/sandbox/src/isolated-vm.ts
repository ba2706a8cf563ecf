import type * as ivm from 'isolated-vm-5';

export type IsolatedVm = typeof ivm;
export type { ivm };

/**
 * The release of isolated-vm for each Node ABI, newest first. Loading two of them in one process aborts it, so the
 * choice is made before anything is loaded. Spelled out, for the bundler to see the names.
 */
const releases: { abi: number; name: string; load: () => unknown }[] = [
  { abi: 141, name: 'isolated-vm-7', load: () => require('isolated-vm-7') },
  { abi: 127, name: 'isolated-vm-6', load: () => require('isolated-vm-6') },
  { abi: 108, name: 'isolated-vm-5', load: () => require('isolated-vm-5') },
];

/** Loads isolated-vm for this Node. Throws when it is not installed or Node is too old. */
export function loadIsolatedVm(abi = Number(process.versions.modules)): IsolatedVm {
  const release = releases.find((candidate) => abi >= candidate.abi);
  if (!release) throw new Error(`No release of isolated-vm for Node ${process.versions.node}`);
  try {
    return release.load() as IsolatedVm;
  } catch (error) {
    throw new Error(`${cure(release.name)} (${String((error as Error).message).split('\n')[0]})`, { cause: error });
  }
}

/** What to do about a release that does not load: it is missing, or was not built for this system. */
function cure(name: string): string {
  return (
    `isolated-vm does not load for Node.js ${process.versions.node}: run "npm install --include=optional", ` +
    `and "npm rebuild ${name}" if that does not help`
  );
}
