import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { useFolder } from './hooks';
import { fixtureThemes, repository } from './theme';

/** Secrets of a host that listens on no port. */
const secrets = Object.fromEntries(
  ['APP_KEYS', 'API_TOKEN_SALT', 'ADMIN_JWT_SECRET', 'TRANSFER_TOKEN_SALT', 'JWT_SECRET', 'ENCRYPTION_KEY'].map(
    (name) => [name, 'aaaaaaaaaaaaaaaaaaaaaa'],
  ),
);

/** Environment of a command in a temporary host: the test themes, and no demo. */
export const hostEnvironment: Record<string, string> = {
  ...secrets,
  APPS_DEMO: 'false',
  APPS_THEMES_DIRECTORY: fixtureThemes,
  APPS_THEME: 'main',
  SERVE_ADMIN: 'false',
  STRAPI_TELEMETRY_DISABLED: 'true',
  DATABASE_CLIENT: 'sqlite',
};

/**
 * The folder of a Strapi application in JavaScript: the built host of this repository, so that nothing of it is compiled
 * while other tests use it. The function gives paths in it.
 */
export function useTemporaryHost(name: string): (...names: string[]) => string {
  return useFolder(name, async (folder) => {
    // Strapi looks for plugins among the dependencies.
    const { dependencies } = JSON.parse(await readFile(path.join(repository, 'package.json'), 'utf8'));
    const manifest = { name: 'temporary-host', strapi: { uuid: false }, dependencies };
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
    await mkdir(path.join(folder, 'public', 'uploads'), { recursive: true });
    await mkdir(path.join(folder, 'database', 'migrations'), { recursive: true });
    await symlink(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'));
    for (const part of ['config', 'src']) {
      await symlink(path.join(repository, 'dist', part), path.join(folder, part));
    }
  });
}
