import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Core } from '@strapi/strapi';
import { CannotRun } from '../exit';
import type { Host } from '.';

export type LoadedStrapi = Core.Strapi;

type StrapiPackage = {
  createStrapi(options: { appDir: string; distDir: string; serveAdminPanel: boolean }): Core.Strapi;
  compileStrapi(options: { appDir: string }): Promise<{ appDir: string; distDir: string }>;
};

/**
 * Runs `work` with the host's Strapi, loaded without listening on a port, and ends Strapi after it. While it runs, standard
 * output belongs to the command: Strapi's log goes to standard error. Throws CannotRun when there is no host, when it has no
 * Strapi, when it does not start, or when it has no plugin `apps`.
 */
export async function withStrapi<T>(host: Host, work: (strapi: LoadedStrapi) => Promise<T>): Promise<T> {
  const root = host.requireRoot();
  const restore = sendToStandardError();
  try {
    const strapi = await start(root, packageOf(root));
    try {
      if (!strapi.plugins.apps) {
        throw new CannotRun(
          'The plugin "apps" is not enabled in this host',
          'Add `apps: { enabled: true }` to config/plugins.',
        );
      }
      return await work(strapi);
    } finally {
      await strapi.destroy();
    }
  } finally {
    restore();
  }
}

function packageOf(root: string): StrapiPackage {
  try {
    return createRequire(join(root, 'package.json'))('@strapi/strapi') as StrapiPackage;
  } catch (error) {
    throw new CannotRun(`Strapi cannot be loaded in ${root}: ${(error as Error).message}`, 'Run `npm install` there.');
  }
}

async function start(root: string, { createStrapi, compileStrapi }: StrapiPackage): Promise<Core.Strapi> {
  // Strapi reads its `.env`, and some of its folders, from the current one.
  process.chdir(root);
  const { distDir } = await compiled(root, compileStrapi);
  try {
    const strapi = createStrapi({ appDir: root, distDir, serveAdminPanel: false });
    // The messages of a start are not printed.
    strapi.log.level = 'warn';
    return await strapi.load();
  } catch (error) {
    throw new CannotRun(`Strapi does not start in ${root}: ${(error as Error).message}`);
  }
}

/** Compiles a host in TypeScript. Strapi prints the errors of its files, and would end the process. */
async function compiled(root: string, compile: StrapiPackage['compileStrapi']) {
  const { exit } = process;
  process.exit = () => {
    throw new CannotRun(`The host in ${root} does not compile`, 'Correct the errors above.');
  };
  try {
    return await compile({ appDir: root });
  } finally {
    process.exit = exit;
  }
}

/** @returns a function that undoes it */
function sendToStandardError(): () => void {
  const { write } = process.stdout;
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof write;
  return () => {
    process.stdout.write = write;
  };
}
