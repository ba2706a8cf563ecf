/**
 * One project of the tests, for `npm run test:unit`, `test:watch` and `test:e2e`; other arguments go to vitest:
 *
 *   npm run test:unit                          all except the slow ones, SQLite only; starts no host and no database server
 *   npm run test:unit -- plugins/apps/shared   files whose path contains that, slow ones too
 *   npm run test:e2e -- tests/csrf.test.ts -t 'without a token'
 *   TEST_DATABASES=postgres npm run test:unit -- records
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findChromium, root, say } from './prepare.mjs';

const [command, project, ...args] = process.argv.slice(2);
const namesFiles = args.some((arg, at) => !arg.startsWith('-') && !/^-[a-z]$/.test(args[at - 1] ?? ''));
const isCi = process.env.CI === 'true';
const env = { ...process.env };

if (project === 'unit' && !isCi) {
  env.TEST_DATABASES ??= 'sqlite';
  if (!namesFiles) {
    env.TEST_SLOW ??= 'false';
    if (env.TEST_SLOW === 'false') say('Without the slow tests of vitest.config.mts; npm test runs them');
  }
}
if (project === 'e2e' && !findChromium())
  say('There is no Chromium: the browser tests do not run. `npm test` installs one, or set CHROMIUM_PATH');

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, command, `--project=${project}`, ...args], {
  cwd: root,
  stdio: 'inherit',
  env,
});
process.exitCode = status ?? 1;
