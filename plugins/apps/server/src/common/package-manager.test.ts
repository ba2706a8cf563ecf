import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { packageManagerOf } from './package-manager';

const root = mkdtempSync(join(tmpdir(), 'manager-'));
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  [['package-lock.json'], '', 'npm'],
  [['package-lock.json'], 'npm/11.19.1 node/v20.20.2 linux x64', 'npm'],
  [['package-lock.json'], 'npm/12.0.0 node/v26.1.0 linux x64', 'npm-12'],
  [['pnpm-lock.yaml'], 'npm/12.0.0 node/v26.1.0', 'pnpm'],
  [['pnpm-lock.yaml'], 'pnpm/10.34.0 npm/? node/v20.20.2', 'pnpm'],
  [['yarn.lock'], '', 'yarn-1'],
  [['yarn.lock'], 'yarn/4.18.0 npm/? node/v20.20.2', 'yarn'],
  [['yarn.lock', '.yarnrc.yml'], '', 'yarn'],
  [['yarn.lock'], 'yarn/1.22.22 npm/? node/v20.20.2', 'yarn-1'],
  [['bun.lock'], '', 'bun'],
  [['bun.lockb'], 'bun/1.3.0 npm/? node/v24', 'bun'],
  [['none'], 'pnpm/10.34.0 npm/? node/v20', 'pnpm'],
])('%j, run by "%s": %s', (files, agent, manager) => {
  const folder = join(root, String(Math.random()), 'packages', 'host');
  mkdirSync(folder, { recursive: true });
  for (const file of files) writeFileSync(join(folder, '..', file), '');
  expect(packageManagerOf(folder, agent)).toBe(manager);
});
