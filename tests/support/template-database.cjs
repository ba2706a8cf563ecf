/**
 * Makes the database of a host's first start, which the tests' hosts copy: to make its tables takes a third of a start on
 * SQLite, and most of it on a server. `node template-database.cjs FILE`, or without a file for the empty database of a
 * server in the environment, in the root of the project.
 */
const { mkdirSync, renameSync, rmSync } = require('node:fs');
const { dirname } = require('node:path');
const { createStrapi } = require('@strapi/strapi');

const names = ['API_TOKEN_SALT', 'ADMIN_JWT_SECRET', 'TRANSFER_TOKEN_SALT', 'JWT_SECRET', 'ENCRYPTION_KEY'];

async function main([file]) {
  if (!file) return firstStart({});
  const unfinished = `${file}.unfinished`;
  mkdirSync(dirname(file), { recursive: true });
  rmSync(unfinished, { force: true });
  await firstStart({ DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: unfinished });
  renameSync(unfinished, file);
}

async function firstStart(database) {
  // Secrets that no host has: what the first start signs or encrypts with them is valid nowhere.
  const secrets = Object.fromEntries(['APP_KEYS', ...names].map((name) => [name, `template,${name}`]));
  Object.assign(process.env, secrets, database, {
    NODE_ENV: 'test',
    STRAPI_TELEMETRY_DISABLED: 'true',
    SERVE_ADMIN: 'false',
    APPS_DEMO: 'false',
  });
  const appDir = process.cwd();
  const strapi = createStrapi({ appDir, distDir: `${appDir}/dist` });
  // Every migration of a first start is logged.
  strapi.log.level = 'warn';
  await strapi.load();
  await strapi.destroy();
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
