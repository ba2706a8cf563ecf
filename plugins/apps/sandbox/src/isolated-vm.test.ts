import { expect, test } from 'vitest';
import { loadIsolatedVm } from './isolated-vm';

test.each([
  [147, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@7.0.1"$/],
  [137, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@7.0.1"$/],
  [127, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@6.2.0"$/],
  [115, /is not installed for Node.js [\d.]+: run "npm install isolated-vm@5.0.4"$/],
  [108, /has no release for Node.js [\d.]+: install Node.js 20, 22, 24 or 26/],
])('a release that is not installed for ABI %i says what to do', (abi, message) => {
  expect(() => loadIsolatedVm(abi, () => false)).toThrow(message);
});

test('a release that is installed and does not load says what to do', () => {
  // `isolated-vm-7` is for another Node.js than this test's, or is not there.
  const installed = (name: string) => name === 'isolated-vm-7';
  const message = /does not load for Node.js .*: run "npm install isolated-vm@7.0.1", and "npm rebuild isolated-vm-7"/;
  if (Number(process.versions.modules) < 137) expect(() => loadIsolatedVm(141, installed)).toThrow(message);
});
