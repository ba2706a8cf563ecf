import type * as ivm from 'isolated-vm';
import type { PackageManager } from '../../shared/logic-protocol';

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

/** Commands of a package manager for a release of isolated-vm: they install it, and run its install script once it is installed. */
interface Commands {
  install(version: string): string;
  build(version: string): string;
}

const rebuild = () => 'npm rebuild isolated-vm';
const approve = () => `npm approve-scripts isolated-vm && ${rebuild()}`;
const allow = () => 'npm pkg set dependenciesMeta.isolated-vm.built=true --json && yarn rebuild isolated-vm';
const added = (version: string) => `pnpm add --allow-build=isolated-vm isolated-vm@${version}`;

/** Each refuses install scripts, or will, until they are approved in its own way (docs/reference/installation.md#install-scripts). */
const commands: Record<PackageManager, Commands> = {
  npm: { install: (version) => `npm install isolated-vm@${version}`, build: rebuild },
  'npm-12': { install: (version) => `npm install isolated-vm@${version} && ${approve()}`, build: approve },
  pnpm: { install: added, build: (version) => `${added(version)} && pnpm rebuild isolated-vm` },
  'yarn-1': { install: (version) => `yarn add isolated-vm@${version}`, build: rebuild },
  yarn: { install: (version) => `yarn add isolated-vm@${version} && ${allow()}`, build: allow },
  bun: { install: (version) => `bun add --trust isolated-vm@${version}`, build: () => 'bun pm trust isolated-vm' },
};

/** The release of a package that is there; undefined where its manifest cannot be read. */
function releaseOf(name: string): string | undefined {
  try {
    return (require(`${name}/package.json`) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Whether a package is there: it may be one that does not load. */
function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * Loads isolated-vm for this Node.js. Throws an Error with the one command that cures it when it is not installed, is another
 * release, or was not built.
 */
export function loadIsolatedVm(
  manager: PackageManager,
  abi = Number(process.versions.modules),
  installed = isInstalled,
): IsolatedVm {
  const node = `Node.js ${process.versions.node}`;
  const release = releases.find((candidate) => abi >= candidate.abi);
  if (!release) throw new Error(`isolated-vm has no release for ${node}: install Node.js 20, 22, 24 or 26`);
  const { install, build } = commands[manager];
  const found = release.packages.find(({ name }) => installed(name));
  if (!found) throw new Error(`isolated-vm is not installed for ${node}: run "${install(release.version)}"`);
  try {
    return found.load() as IsolatedVm;
  } catch (error) {
    const reason = String((error as Error).message).split('\n')[0];
    const isRight = found !== own || releaseOf(own.name) === release.version;
    const command = isRight ? build(release.version) : install(release.version);
    throw new Error(`isolated-vm does not load for ${node}: run "${command}" (${reason})`, { cause: error });
  }
}
