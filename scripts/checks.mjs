/**
 * The checks of `npm test` that run no test; each group also has its own script:
 *
 *   node scripts/checks.mjs lint | typecheck
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, say } from './prepare.mjs';

const require = createRequire(import.meta.url);
/** Found when it is run: on a fresh clone the packages are installed first. */
const bin =
  (name, file, ...args) =>
  () => [join(dirname(require.resolve(`${name}/package.json`)), file), ...args];
const typesOf = (project) => bin('typescript', 'bin/tsc', '--noEmit', '-p', project);
const script = (name) => () => [join('scripts', name)];

/** Checks by group: title, and what makes the arguments of Node.js; a check fails by its exit code. Those that take longest are first. */
export const checks = {
  lint: [
    ['Lint and format', bin('@biomejs/biome', 'bin/biome', 'ci', '--colors=off', '.')],
    ['Imports follow the architecture', script('check-imports.mjs')],
    ['The lockfile serves every machine', script('check-lockfile.mjs')],
  ],
  typecheck: [
    ['Types of the end-to-end tests', typesOf(join('tests', 'tsconfig.json'))],
    ...['server', 'cli', 'admin', 'testing', 'sandbox', 'browser'].map((program) => [
      `Types of the plugin's ${program} part`,
      typesOf(join('plugins', 'apps', program, 'tsconfig.json')),
    ]),
    ['Types of the host', typesOf('tsconfig.json')],
    ["Types of the demo's logic, strict", typesOf(join('themes', 'tsconfig.json'))],
  ],
};

/** Runs Node.js to its end; @returns whether it succeeded, and what it has printed */
async function outcome(args) {
  const child = spawn(process.execPath, args(), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece) => {
      text += piece;
    });
  const code = await new Promise((done) => child.once('close', done));
  return { isFine: code === 0, text };
}

/**
 * Runs checks, as many at once as there are processors, and prints the output of each when it has ended.
 * @returns the titles of those that failed
 */
export async function runChecks(all) {
  const waiting = [...all];
  const failed = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [what, args] = next;
      const { isFine, text } = await outcome(args);
      say(what);
      process.stdout.write(text);
      if (!isFine) failed.push(what);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return failed;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = await runChecks(checks[process.argv[2]]);
  for (const what of failed) console.error(`> Failed: ${what}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
