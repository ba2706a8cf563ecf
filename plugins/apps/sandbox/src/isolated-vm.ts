import type * as ivm from 'isolated-vm';

export type IsolatedVm = typeof ivm;
export type { ivm };

interface Release {
  /** The first ABI of Node.js that it serves. */
  abi: number;
  /** The release, as `npm install isolated-vm@…` takes it. */
  version: string;
  /** How it is loaded from each package that may hold it; spelled out so that the bundler sees the names. */
  packages: { name: string; load: () => unknown }[];
}

const own = { name: 'isolated-vm', load: () => require('isolated-vm') };

/**
 * The release of isolated-vm for each Node ABI, newest first (docs/decisions/isolated-vm-releases.md). Loading two of them in
 * one process aborts it: a package is chosen by being there, before anything is loaded.
 */
const releases: Release[] = [
  {
    abi: 137,
    version: '7.0.1',
    packages: [{ name: 'isolated-vm-7', load: () => require('isolated-vm-7') }, own],
  },
  {
    abi: 127,
    version: '6.2.0',
    packages: [{ name: 'strapi-plugin-apps-node22', load: () => require('strapi-plugin-apps-node22') }, own],
  },
  { abi: 115, version: '5.0.4', packages: [own] },
];

/** Whether a package is there: it may be one that does not load. */
function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Loads isolated-vm for this Node.js. Throws an Error with the command that cures it when it is not installed or does not load. */
export function loadIsolatedVm(abi = Number(process.versions.modules), installed = isInstalled): IsolatedVm {
  const node = `Node.js ${process.versions.node}`;
  const release = releases.find((candidate) => abi >= candidate.abi);
  if (!release) throw new Error(`isolated-vm has no release for ${node}: install Node.js 20, 22, 24 or 26`);
  const found = release.packages.find(({ name }) => installed(name));
  const command = `npm install isolated-vm@${release.version}`;
  if (!found) throw new Error(`isolated-vm is not installed for ${node}: run "${command}"`);
  try {
    return found.load() as IsolatedVm;
  } catch (error) {
    const reason = String((error as Error).message).split('\n')[0];
    const repair = `run "${command}", and "npm rebuild ${found.name}" if that does not help`;
    throw new Error(`isolated-vm does not load for ${node}: ${repair} (${reason})`, { cause: error });
  }
}
