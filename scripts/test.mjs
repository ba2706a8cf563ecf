/**
 * `npm test`: every check and every test of the project, from a clean checkout. Ends with one line,
 * `N passed, N failed` (`, N skipped`), in which a check counts like a test; fails when anything has failed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { checks, runChecks } from './checks.mjs';
import {
  build,
  checkNode,
  findChromium,
  findProgram,
  headlessShell,
  install,
  root,
  say,
  writeSecrets,
} from './prepare.mjs';

const require = createRequire(import.meta.url);
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];

function fail(what, count = 1) {
  total.failed += count;
  failures.push(what);
}

/** Prints a banner that something is not tested: a skipped test, in CI a failed one. */
function leftOut(what, message) {
  const banner = '!'.repeat(100);
  console.error(`${banner}\n! ${message}\n${banner}`);
  if (process.env.CI === 'true') fail(what);
  else total.skipped += 1;
}

/** Counts of a vitest report; a test file that could not even be loaded counts as one failed test. */
function countsOf(report) {
  const unloaded = report.testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
  });
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

const firstLine = (text = '') => text.split('\n', 1)[0];

/** The failed tests of a vitest report, and its files that could not be loaded: `file › test: first line of the message`. */
function failedTests({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`${file}: ${firstLine(message) || 'a hook failed'}`];
    return failed.map(({ fullName, failureMessages }) => `${file} › ${fullName}: ${firstLine(failureMessages[0])}`);
  });
}

/** Runs a vitest project, or one file of it, and adds up its counts; a run without a report is one failed test. */
function runTests(project, files = []) {
  say(`Tests: ${project}`);
  const report = join(root, '.cache', 'tests', `${project}.json`);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const options = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, '--passWithNoTests'];
  const { status } = spawnSync(process.execPath, [vitest, 'run', `--project=${project}`, ...options, ...files], {
    cwd: root,
    stdio: 'inherit',
  });
  const found = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : null;
  const counts = found ? countsOf(found) : { failed: 0 };
  for (const kind of Object.keys(counts)) total[kind] += counts[kind];
  if (counts.failed > 0) failures.push(...failedTests(found));
  else if (status !== 0) fail(`Tests: ${project} ended with exit code ${status}`);
}

/** Runs apt-get: it asks no questions, and starts no service of what it installs. */
function apt(...args) {
  const quietly = ['env', 'DEBIAN_FRONTEND=noninteractive', 'SYSTEMD_OFFLINE=1', 'apt-get', '-qq'];
  const [command, ...all] = [...(process.getuid?.() === 0 ? [] : ['sudo', '-n']), ...quietly, ...args];
  spawnSync(command, all, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Whether apt-get knows the packages of today. */
let hasLists = false;

/** The path of a program, whose package of Debian is installed where there is none; undefined where that fails. */
function installed(name, find = () => findProgram(name)) {
  const found = find();
  if (found) return found;
  say(`Installing ${name} for the tests`);
  if (!hasLists) apt('update');
  hasLists = true;
  apt('install', '-y', '--no-install-recommends', name);
  return find();
}

/** A program that tests cannot do without, which is said loudly where it cannot be installed, and fails in CI. */
function required(name, missing, found = installed(name)) {
  if (!found) leftOut(`${name} for the tests`, `NO ${name}: it could not be installed through apt-get. ${missing}`);
  return found;
}

/** The browser of the tests: the one that is named, else the headless one, else any other Chromium. */
function browserOfTests() {
  const found = process.env.CHROMIUM_PATH || installed(headlessShell) || installed('chromium', findChromium);
  return required('chromium', 'THE BROWSER TESTS DO NOT RUN.', found);
}

/** Programs of Debian that tests start: the pooler, what reads metrics, and what reads the site's file of nginx. */
const programs = {
  nginx: 'THE FILE OF NGINX IS NOT CHECKED BY IT.',
  pgbouncer: 'THE TESTS OF POOLS DO NOT RUN.',
  prometheus: 'THE TESTS OF METRICS WITH IT DO NOT RUN.',
  'redis-server': 'THE TESTS OF PROCESSES WITH REDIS DO NOT RUN.',
};

/** A filter of databases (TEST_DATABASES) is for single tests: here it counts as a test that was skipped. */
function checkDatabases() {
  const only = process.env.TEST_DATABASES;
  if (only) leftOut('TEST_DATABASES is set', `TEST_DATABASES=${only}: THE TESTS OF OTHER DATABASES DO NOT RUN.`);
}

function prepare() {
  checkNode();
  install();
  writeSecrets();
  build('pluginServer', 'pluginPanel', 'host');
}

/** The build of the admin panel runs on one processor, as a check does, and longer than each: it is the first of them. */
const panel = [
  'The admin panel is built',
  () => ['-e', "import('./scripts/prepare.mjs').then(({ build }) => build('panel'))"],
];

async function main() {
  try {
    prepare();
    const all = [panel, ...checks.typecheck, ...checks.lint];
    const failed = await runChecks(all);
    total.passed += all.length - failed.length;
    for (const what of failed) fail(what);
    checkDatabases();
    for (const [name, missing] of Object.entries(programs)) required(name, missing);
    runTests('unit');
    const browser = browserOfTests();
    runTests('e2e');
    runTests('attacks');
    // The others of the panel take minutes: `npm run test:panel`.
    if (browser) runTests('panel', [join('tests', 'panel', 'way.test.ts')]);
  } catch (error) {
    console.error(`> ${error.message}`);
    fail('Preparation');
  }
  for (const what of failures) console.error(`> Failed: ${what}`);
  const { passed, failed, skipped } = total;
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 ? 1 : 0;
}

await main();
