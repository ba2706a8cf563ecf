import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Core } from '@strapi/strapi';
import { compiledFolder } from '../../shared/host/compiled-host';
import type { StartedTests } from '../../shared/test-events';
import { ORIGIN } from './browser';
import { collectLog } from './failures';

/** No test can run: the host does not start, or has no such app. */
export class CannotTest extends Error {
  constructor(
    message: string,
    readonly cure?: string,
  ) {
    super(message);
  }
}

type StrapiPackage = {
  createStrapi(options: { appDir: string; distDir: string; serveAdminPanel: boolean }): Core.Strapi;
  compileStrapi(options: { appDir: string }): Promise<{ distDir: string }>;
};

/** Secrets that a host reads from its environment: tests need none of a real server. */
const secrets = [
  'API_TOKEN_SALT',
  'ADMIN_JWT_SECRET',
  'TRANSFER_TOKEN_SALT',
  'JWT_SECRET',
  'ENCRYPTION_KEY',
  'APP_KEYS',
];

/** The host's Strapi, which answers requests, but listens on no port. */
export interface StartedHost {
  strapi: Core.Strapi;
  stop(): Promise<void>;
}

/**
 * Starts the host on a new SQLite file, whatever its own database is. Nothing of its database and its files is read or changed. Throws
 * CannotTest.
 */
export async function startHost({ root, themes, folder }: StartedTests): Promise<StartedHost> {
  process.chdir(root);
  setEnvironment(themes);
  const hostRequire = createRequire(join(root, 'package.json'));
  const { createStrapi, compileStrapi } = load<StrapiPackage>(
    hostRequire,
    '@strapi/strapi',
    'Run `npm install` there.',
  );
  load(hostRequire, 'better-sqlite3', 'Tests run on SQLite: `npm install --save-dev better-sqlite3`.');
  const distDir = compiledFolder(root) ?? (await compileStrapi({ appDir: root })).distDir;
  const strapi = createStrapi({ appDir: root, distDir, serveAdminPanel: false });
  collectLog(strapi.log as never);
  configure(strapi, join(folder, 'data.db'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // When the command is ended early.
  process.once('exit', remove);
  const stop = async () => {
    // It removes all listeners of the process.
    await strapi.destroy();
    remove();
  };
  try {
    await strapi.register();
    if (!strapi.plugins.apps) {
      throw new CannotTest(
        'The plugin "apps" is not enabled in this host',
        'Add `apps: { enabled: true }` to config/plugins.',
      );
    }
    strapi.config.set('plugin::apps.themesDirectory', themes);
    // Private files are then beside the database.
    strapi.config.set('plugin::apps.filesDirectory', null);
    strapi.config.set('plugin::apps.filesProvider', null);
    await strapi.bootstrap();
    keepMails(strapi);
    keepFiles(strapi);
    strapi.isLoaded = true;
    strapi.server.mount();
    return { strapi, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    if (error instanceof CannotTest) throw error;
    throw new CannotTest(`Strapi does not start in ${root}: ${(error as Error).stack ?? String(error)}`);
  }
}

/** Tests send nothing: what apps mail is stored by the plugin only. */
function keepMails(strapi: StartedHost['strapi']): void {
  const email = strapi.plugin('email') as { provider?: object } | undefined;
  if (email) email.provider = { send: async () => undefined };
}

/** No file reaches the host's media library: of a public one only its entry is there. */
function keepFiles(strapi: StartedHost['strapi']): void {
  const upload = strapi.plugin('upload') as { provider?: object } | undefined;
  const keep = async (file: { hash: string; ext: string; url?: string }) => {
    file.url = `/uploads/${file.hash}${file.ext}`;
  };
  if (upload?.provider)
    Object.assign(upload.provider, { upload: keep, uploadStream: keep, delete: async () => undefined });
}

function load<T>(hostRequire: NodeJS.Require, name: string, cure: string): T {
  try {
    return hostRequire(name) as T;
  } catch (error) {
    throw new CannotTest(`"${name}" cannot be loaded from the host: ${(error as Error).message}`, cure);
  }
}

/** Before Strapi reads the host's `.env`, which leaves variables that are set. */
function setEnvironment(themes: string): void {
  const secret = () => randomBytes(24).toString('base64');
  for (const name of secrets) process.env[name] = `${secret()},${secret()}`;
  Object.assign(process.env, {
    NODE_ENV: 'test',
    DATABASE_CLIENT: 'sqlite',
    STRAPI_TELEMETRY_DISABLED: 'true',
    // The content of a demo would be in the way of the tests' own.
    APPS_DEMO: 'false',
    // It would win over the configuration.
    APPS_THEMES_DIRECTORY: themes,
  });
}

function configure(strapi: Core.Strapi, filename: string): void {
  // Also for a host whose configuration does not read DATABASE_CLIENT.
  strapi.config.set('database', {
    connection: {
      client: 'sqlite',
      connection: { filename },
      useNullAsDefault: true,
      pool: { min: 1, max: 1, afterCreate: withoutSync },
    },
    settings: { forceMigration: true, runMigrations: true },
  });
  strapi.config.set('server.url', ORIGIN);
  strapi.config.set('server.absoluteUrl', ORIGIN);
  strapi.config.set('server.cron.enabled', false);
}

/** A temporary file need not survive a loss of power. */
function withoutSync(connection: { pragma(text: string): unknown }, done: (error: null, connection: unknown) => void) {
  connection.pragma('journal_mode = MEMORY');
  connection.pragma('synchronous = OFF');
  done(null, connection);
}
