import { expect, test } from 'vitest';
import { loadIsolatedVm } from './isolated-vm';

test.each([
  [141, /run "npm install --include=optional", and "npm rebuild isolated-vm-7"/],
  [1, /No release of isolated-vm/],
])('a release that does not load for ABI %i says what to do', (abi, message) => {
  // Where the release is installed after all it is for another Node.js, and does not load either.
  expect(() => loadIsolatedVm(abi)).toThrow(message);
});
