import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dependencyProblems, packageOf, undeclared, unused } from './package/declared.mjs';
import { manifestOf, pack, packages } from './package/pack.mjs';

const folder = mkdtempSync(join(tmpdir(), 'apps-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A package's own command line program; @returns its exit code and what it has printed */
function runBin(name, bin, args, cwd) {
  const path = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), bin);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { cwd, encoding: 'utf8' });
  return { status, text: stdout + stderr };
}

describe('the packed plugin', () => {
  const packed = {};
  beforeAll(() => {
    Object.assign(packed, pack('strapi-plugin-apps', folder));
  }, 180_000);

  test('holds programs, documents, license and changelog', () => {
    const wanted = ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/tutorial.md', 'schemas/definition.json'];
    const programs = [
      'server/index.js',
      'server/worker.js',
      'admin/index.js',
      'sandbox/runner.js',
      'browser/apps.js',
      'browser/live.js',
    ];
    expect(packed.files).toEqual(
      expect.arrayContaining([...wanted, 'dist/shared/context.d.ts', ...programs.map((file) => `dist/${file}`)]),
    );
  });

  test('holds no tests and no sources', () => {
    const wrong = packed.files.filter((path) =>
      /^dist\/.*\.test\.|^dist\/(server|shared)\/.*testing\/|fixtures/.test(path),
    );
    expect(wrong).toEqual([]);
    expect(packed.files.filter((path) => /^dist\/.*(?<!\.d)\.tsx?$|^(server|admin|sandbox|cli)\//.test(path))).toEqual(
      [],
    );
  });

  test('is smaller than 2 MB', () => {
    expect(packed.size).toBeLessThan(2_000_000);
  });

  test('has nothing that publint finds', async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(packed.file);
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength);
    const { messages } = await publint({ level: 'suggestion', strict: true, pack: { tarball } });
    expect(messages).toEqual([]);
  });

  test('has nothing that Strapi’s verifier finds', () => {
    const args = ['verify'];
    const { status, text } = runBin('@strapi/sdk-plugin', 'bin/strapi-plugin.js', args, packages['strapi-plugin-apps']);
    expect({ status, text }).toEqual({ status: 0, text: expect.not.stringMatching(/warn|error/i) });
  });
});

describe('package.json of the plugin', () => {
  const manifest = manifestOf('strapi-plugin-apps');

  test('declares every import, and nothing that no source imports', () => {
    expect(dependencyProblems(packages['strapi-plugin-apps'], manifest)).toEqual([]);
    // It parses every source of the package.
  }, 60_000);

  test('names the kinds of Node.js that isolated-vm has a release for', () => {
    expect(manifest.engines.node).toBe('^20.19.0 || ^22.12.0 || ^24.0.0 || ^26.0.0');
  });

  test('installs no isolated-vm that its Node.js would have to compile', () => {
    // docs/decisions/isolated-vm-releases.md
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['isolated-vm-7', 'strapi-plugin-apps-node22']);
    expect(manifestOf('strapi-plugin-apps-node22').engines.node).toBe('>=22.12.0 <24');
    expect(Object.keys(manifest.dependencies)).not.toContain('isolated-vm');
  });
});

test('README.md of each package has no relative links, which npm cannot follow', () => {
  for (const path of Object.values(packages)) {
    const text = readFileSync(join(path, 'README.md'), 'utf8');
    expect([...text.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, link]) => link)).toEqual([]);
  }
});

test('all packages have the same license and version, and peers fit it', () => {
  const texts = Object.values(packages).map((path) => readFileSync(join(path, 'LICENSE'), 'utf8'));
  expect(new Set(texts).size).toBe(1);
  const { version, optionalDependencies, peerDependencies } = manifestOf('strapi-plugin-apps');
  for (const name of Object.keys(packages)) expect(manifestOf(name).version).toBe(version);
  expect(optionalDependencies['strapi-plugin-apps-node22']).toBe(version);
  expect(peerDependencies['strapi-plugin-apps-python']).toBe(`^${version}`);
});

test('Python’s package holds the license of MicroPython', () => {
  const { files } = pack('strapi-plugin-apps-python', folder);
  expect(files.sort()).toEqual(['LICENSE', 'LICENSE-MICROPYTHON', 'README.md', 'index.js', 'package.json']);
});

test.each([
  ['./a', null],
  ['node:fs', null],
  ['fs', null],
  ['apps:python', null],
  ['knex', 'knex'],
  ['csv-stringify/sync', 'csv-stringify'],
  ['@strapi/strapi/admin', '@strapi/strapi'],
])('the package of %s is %s', (specifier, name) => {
  expect(packageOf(specifier)).toBe(name);
});

test('undeclared and unused packages are found', () => {
  const manifest = { name: 'me', dependencies: { '@types/koa': '1', a: '1', b: '1' }, peerDependencies: { c: '1' } };
  const imports = [
    { specifier: 'koa', typeOnly: true, line: 1 },
    { specifier: 'koa', typeOnly: false, line: 2 },
    { specifier: 'a/x', typeOnly: false, line: 3 },
    { specifier: 'c', typeOnly: false, line: 4 },
    { specifier: 'd', typeOnly: true, line: 5 },
    { specifier: 'me/context', typeOnly: true, line: 6 },
  ];
  const sources = [{ path: 'a.ts', imports }];
  expect(undeclared(manifest, sources)).toEqual([
    "a.ts:2: 'koa' is not in package.json",
    "a.ts:5: 'd' is not in package.json",
  ]);
  expect(unused(manifest, sources)).toEqual(['b']);
});
