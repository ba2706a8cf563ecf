/**
 * Runs the host that `npm start` has built, as `strapi start` does, but from build/: `strapi develop` deletes the admin
 * panel of dist/, and tests build there.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './prepare.mjs';

const { createStrapi } = createRequire(import.meta.url)('@strapi/strapi');

createStrapi({ appDir: root, distDir: join(root, 'build') }).start();
