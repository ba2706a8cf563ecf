/**
 * The checks of `npm test` that run no test; each group also has its own script:
 *
 *   node scripts/checks.mjs lint | typecheck
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, runBin, say } from './prepare.mjs';

const typesOf = (project) => () => runBin('typescript', 'bin/tsc', ['--noEmit', '-p', project]);
const script = (name) => () => run(process.execPath, [join('scripts', name)]);

/** Checks by group: title and function; a check fails by throwing. */
export const checks = {
  lint: [
    ['Lint and format', () => runBin('@biomejs/biome', 'bin/biome', ['ci', '--colors=off', '.'])],
    ['The lockfile serves every machine', script('check-lockfile.mjs')],
    ['Imports follow the architecture', script('check-imports.mjs')],
  ],
  typecheck: [
    ['Types of the host', typesOf('tsconfig.json')],
    ...['server', 'sandbox', 'browser', 'admin', 'cli', 'testing'].map((program) => [
      `Types of the plugin's ${program} part`,
      typesOf(join('plugins', 'apps', program, 'tsconfig.json')),
    ]),
    ["Types of the demo's logic, strict", typesOf(join('themes', 'tsconfig.json'))],
    ['Types of the end-to-end tests', typesOf(join('tests', 'tsconfig.json'))],
  ],
};

/** Runs a group to its end; @returns the names of the checks that failed */
function runGroup(group) {
  return checks[group].flatMap(([what, work]) => {
    say(what);
    try {
      work();
      return [];
    } catch (error) {
      console.error(`> ${error.message}`);
      return [what];
    }
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = runGroup(process.argv[2]);
  for (const what of failed) console.error(`> Failed: ${what}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
