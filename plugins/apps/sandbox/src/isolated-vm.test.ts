import { expect, test } from 'vitest';
import { loadIsolatedVm } from './isolated-vm';

test.each([
  [147, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@7.0.1"$/],
  [137, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@7.0.1"$/],
  [127, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@6.2.0"$/],
  [115, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@5.0.4"$/],
  [108, /has no release for Node.js [\d.]+: install Node.js 20, 22, 24 or 26/],
])('a release that is not installed for ABI %i says what to do', (abi, message) => {
  expect(() => loadIsolatedVm('npm', abi, () => false)).toThrow(message);
});

test('a release that is installed and does not load says what to do', () => {
  // `isolated-vm-7` is for another Node.js than this test's, or is not there.
  const installed = (name: string) => name === 'isolated-vm-7';
  const message = /does not load for Node.js .*: run "npm rebuild isolated-vm" \(/;
  if (Number(process.versions.modules) < 137) expect(() => loadIsolatedVm('npm', 141, installed)).toThrow(message);
});

test.each([
  ['npm', 'npm install isolated-vm@7.0.1', 'npm rebuild isolated-vm'],
  [
    'npm-12',
    'npm install isolated-vm@7.0.1 && npm approve-scripts isolated-vm && npm rebuild isolated-vm',
    'npm approve-scripts isolated-vm && npm rebuild isolated-vm',
  ],
  [
    'pnpm',
    'pnpm add --allow-build=isolated-vm isolated-vm@7.0.1',
    'pnpm add --allow-build=isolated-vm isolated-vm@7.0.1 && pnpm rebuild isolated-vm',
  ],
  ['yarn-1', 'yarn add isolated-vm@7.0.1', 'npm rebuild isolated-vm'],
  [
    'yarn',
    'yarn add isolated-vm@7.0.1 && npm pkg set dependenciesMeta.isolated-vm.built=true --json && yarn rebuild isolated-vm',
    'npm pkg set dependenciesMeta.isolated-vm.built=true --json && yarn rebuild isolated-vm',
  ],
  ['bun', 'bun add --trust isolated-vm@7.0.1', 'bun pm trust isolated-vm'],
] as const)(
  '%s has one command for a package that is missing, and one for a package that was not built',
  (manager, add, build) => {
    expect(() => loadIsolatedVm(manager, 141, () => false)).toThrow(`run "${add}"`);
    const onlyAlias = (name: string) => name === 'isolated-vm-7';
    if (Number(process.versions.modules) < 137)
      expect(() => loadIsolatedVm(manager, 141, onlyAlias)).toThrow(`run "${build}" (`);
  },
);
