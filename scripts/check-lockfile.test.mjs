import { describe, expect, test } from 'vitest';
import { completed, missingEntries, platformEntry, problemsOf } from './check-lockfile.mjs';

const tool = {
  version: '1.0.0',
  dev: true,
  optionalDependencies: { '@tool/linux-x64': '1.0.0', '@tool/win32-x64': '1.0.0' },
};
const linux = { version: '1.0.0', cpu: ['x64'], os: ['linux'], optional: true, dev: true };

test.each([
  ['@rollup/rollup-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
  ['@rollup/rollup-linux-arm-musleabihf', { os: ['linux'], cpu: ['arm'], libc: ['musl'] }],
  ['@biomejs/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'], libc: undefined }],
  ['@swc/core-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'], libc: undefined }],
])('the name %s gives the platform', (name, platform) => {
  expect(platformEntry(name, '1.0.0')).toMatchObject({ ...platform, version: '1.0.0', optional: true });
});

describe('a lockfile', () => {
  const packages = { 'node_modules/tool': tool, 'node_modules/@tool/linux-x64': linux };

  test('without another platform’s package is completed', () => {
    expect(problemsOf({ packages })).toEqual(['@tool/win32-x64 1.0.0, of another platform, is missing']);
    const fixed = completed({ lockfileVersion: 3, packages });
    expect(fixed.packages['node_modules/@tool/win32-x64']).toMatchObject({
      version: '1.0.0',
      os: ['win32'],
      dev: true,
    });
    expect(problemsOf(fixed)).toEqual([]);
  });

  test('finds packages where npm looks for them', () => {
    const nested = { 'node_modules/a/node_modules/tool': tool, 'node_modules/a/node_modules/@tool/linux-x64': linux };
    expect(missingEntries(nested).map(({ name }) => name)).toEqual(['@tool/win32-x64']);
    expect(missingEntries({ ...nested, 'node_modules/@tool/win32-x64': linux })).toEqual([]);
  });

  test('may not name a registry, but a workspace', () => {
    const resolved = {
      'node_modules/a': { resolved: 'https://registry.example/a.tgz' },
      'node_modules/b': { resolved: 'plugins/b', link: true },
    };
    expect(problemsOf({ packages: resolved })).toEqual(['node_modules/a names the registry it came from']);
  });
});
