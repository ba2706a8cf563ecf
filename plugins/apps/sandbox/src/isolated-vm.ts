import type * as ivm from 'isolated-vm-5';

export type IsolatedVm = typeof ivm;
export type { ivm };

/**
 * The release of isolated-vm for each Node ABI, newest first. Loading two of them in one process aborts it, so the
 * choice is made before anything is loaded. Spelled out, for the bundler to see the names.
 */
const releases: { abi: number; load: () => unknown }[] = [
  { abi: 141, load: () => require('isolated-vm-7') },
  { abi: 127, load: () => require('isolated-vm-6') },
  { abi: 108, load: () => require('isolated-vm-5') },
];

/** Loads isolated-vm for this Node. Throws when it is not installed or Node is too old. */
export function loadIsolatedVm(abi = Number(process.versions.modules)): IsolatedVm {
  const release = releases.find((candidate) => abi >= candidate.abi);
  if (!release) throw new Error(`No release of isolated-vm for Node ${process.versions.node}`);
  return release.load() as IsolatedVm;
}
