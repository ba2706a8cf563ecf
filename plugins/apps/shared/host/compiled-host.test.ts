import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { compiledFolder } from './compiled-host';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const tsconfig = {
  compilerOptions: { module: 'commonjs', outDir: 'dist', rootDir: '.', resolveJsonModule: true, esModuleInterop: true },
  include: ['./', 'src/**/*.json'],
  exclude: ['node_modules/', 'dist/', 'src/admin/'],
};
const sources = { 'tsconfig.json': 10, 'config/server.ts': 10, 'src/index.ts': 10, 'src/api/schema.json': 10 };
const outputs = { 'dist/config/server.js': 20, 'dist/src/index.js': 20, 'dist/src/api/schema.json': 20 };

/** A host with files of these ages: seconds since 1970. */
function host(files: Record<string, number>): string {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  folders.push(folder);
  symlinkSync(resolve(__dirname, '../../../../node_modules'), join(folder, 'node_modules'));
  for (const [path, seconds] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, path === 'tsconfig.json' ? JSON.stringify(tsconfig) : '{}');
    utimesSync(file, seconds, seconds);
  }
  return folder;
}

test.each([
  ['a host in JavaScript is not compiled', { 'src/index.js': 10 }, ''],
  ['outputs that are newer are used', { ...sources, ...outputs }, 'dist'],
  ['outputs of the same time are used', { ...sources, ...outputs, 'src/index.ts': 20 }, 'dist'],
  ['sources without outputs are compiled', sources, null],
  ['a newer source is compiled', { ...sources, ...outputs, 'config/server.ts': 30 }, null],
  ['a newer JSON file is compiled', { ...sources, ...outputs, 'src/api/schema.json': 30 }, null],
  ['a new source is compiled', { ...sources, ...outputs, 'src/new.ts': 15 }, null],
  ['a newer tsconfig.json is compiled', { ...sources, ...outputs, 'tsconfig.json': 30 }, null],
  ['what is excluded does not count', { ...sources, ...outputs, 'src/admin/app.ts': 30 }, 'dist'],
])('%s', (_, files, folder) => {
  const root = host(files);
  expect(compiledFolder(root)).toBe(folder === null ? null : join(root, folder));
});
