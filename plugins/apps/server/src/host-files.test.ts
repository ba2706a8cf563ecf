import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compiledThemes, ignoreChangesIn, privateFolder, reloadedPanel } from './host-files';

// Below the repository, where TypeScript is found as in a host.
const cache = join(__dirname, '../../../../node_modules/.cache');
mkdirSync(cache, { recursive: true });
const root = mkdtempSync(join(cache, 'apps-host-files-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const usual = { compilerOptions: { allowJs: false }, include: ['./'], exclude: ['node_modules/', 'dist/'] };

interface Host {
  tsconfig?: object;
  files: string[];
}

let hosts = 0;
function hostOf({ tsconfig, files }: Host): string {
  hosts += 1;
  const folder = join(root, String(hosts));
  for (const file of ['src/index.ts', ...files]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  if (tsconfig) writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  return folder;
}

const logic = 'themes/default/apps/a/blocks/b.ts';

test.each<[string, Host, boolean]>([
  ['logic in TypeScript', { tsconfig: usual, files: [logic] }, true],
  ['logic in JavaScript', { tsconfig: usual, files: [logic.replace('.ts', '.js')] }, false],
  ['types only', { tsconfig: usual, files: [logic.replace('.ts', '.d.ts')] }, false],
  ['the folder excluded', { tsconfig: { ...usual, exclude: ['themes/'] }, files: [logic] }, false],
  ['a host without TypeScript', { files: [logic] }, false],
  ['a broken tsconfig.json', { tsconfig: { include: 3 }, files: [logic] }, true],
])('the host compiles themes: %s', (_name, host, expected) => {
  const folder = hostOf(host);
  const problem = compiledThemes(folder, join(folder, 'themes'));
  expect(problem?.cure ?? null).toBe(expected ? 'add "themes/" to "exclude" in tsconfig.json' : null);
});

test('themes outside of the host are not compiled by it', () => {
  const folder = hostOf({ tsconfig: usual, files: [logic] });
  expect(compiledThemes(folder, join(root, 'elsewhere'))).toBeNull();
});

test.each<[string, string[], string | null]>([
  ['a new application in TypeScript', ['src/admin/tsconfig.json'], 'src/admin/vite.config.ts'],
  ['one in JavaScript', ['src/admin/app.example.js'], 'src/admin/vite.config.js'],
  ['a file that does not name the themes', ['src/admin/vite.config.mjs'], 'src/admin/vite.config.mjs'],
  ['no folder of the panel', [], null],
])('a saved theme file reloads the panel: %s', (_name, files, file) => {
  const folder = hostOf({ files });
  const problem = reloadedPanel(folder, join(folder, 'web/themes'));
  if (file === null) expect(problem).toBeNull();
  else {
    expect(problem?.cure).toContain(`let server.watch.ignored in ${file} name '**/web/themes/**'`);
    writeFileSync(join(folder, file), "ignored: ['**/web/themes/**']");
    expect(reloadedPanel(folder, join(folder, 'web/themes'))).toBeNull();
  }
  expect(reloadedPanel(folder, join(root, 'elsewhere'))).toBeNull();
});

test.each([[undefined], [['**/docs/**']], ['no list']])('changes in themes are ignored besides %j', (given) => {
  const settings = new Map<string, unknown>([['admin.watchIgnoreFiles', given]]);
  ignoreChangesIn('/host/themes', {
    get: (key, fallback) => settings.get(key) ?? fallback,
    set: (key, value) => settings.set(key, value),
  });
  const kept = Array.isArray(given) ? given : [];
  expect(settings.get('admin.watchIgnoreFiles')).toEqual([...kept, '/host/themes', '/host/themes/**']);
});

/** A host in /srv/host. @param filename of its SQLite database; null: another one */
const hostWith = (filename: string | null) => ({
  config: {
    get: (key: string) =>
      key === 'database.connection.client' ? (filename === null ? 'postgres' : 'sqlite') : (filename ?? undefined),
  },
  dirs: { app: { root: '/srv/host' }, static: { public: '/srv/host/public' } },
});

test.each<[what: string, filename: string | null, filesDirectory: string | null, folder: string]>([
  ['beside an SQLite file', '/var/data/site.db', null, '/var/data/apps-files'],
  ['beside an SQLite file with a path from the host', '.tmp/data.db', null, '/srv/host/.tmp/apps-files'],
  ['in data where SQLite is in memory', ':memory:', null, '/srv/host/data/apps-files'],
  ['in data with another database', null, null, '/srv/host/data/apps-files'],
  ['where the configuration says', null, '/mnt/files', '/mnt/files'],
  ['in a folder whose name begins like public', null, '/srv/host/public-not', '/srv/host/public-not'],
])('private files are %s', (_what, filename, filesDirectory, folder) => {
  expect(privateFolder(hostWith(filename), { filesDirectory })).toBe(folder);
});

test.each([
  [null, '/srv/host/public'],
  [null, '/srv/host/public/uploads/private'],
  ['/srv/host/public/data.db', null],
])('private files that Strapi would serve stop the start: %j, %j', (filename, filesDirectory) => {
  expect(() => privateFolder(hostWith(filename), { filesDirectory })).toThrow('public folder');
});
