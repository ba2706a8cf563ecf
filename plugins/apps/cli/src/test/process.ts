import { fork } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestEvent, TestResult, TestRunOptions } from '../../../shared/test-events';
import { CannotRun } from '../exit';

/** The programs that the build puts into dist/testing/. */
const program = (file: string) => join(__dirname, '..', 'testing', file);

/** Results of one run, in the order in which the tests ran. */
export interface Outcome {
  results: TestResult[];
  milliseconds: number;
}

/**
 * Runs the tests in a process of their own, which holds the host. What tests print goes to standard error. Throws CannotRun
 * when the host does not start, there is nothing to test, or the process ends before its tests do.
 */
export async function runOnce(options: TestRunOptions, show: (result: TestResult) => void): Promise<Outcome> {
  const begun = performance.now();
  const results: TestResult[] = [];
  const execArgv = [
    '--no-warnings',
    `--test-reporter=${pathToFileURL(program('reporter.mjs')).href}`,
    '--test-reporter-destination=stdout',
  ];
  const child = fork(program('main.js'), [JSON.stringify(options)], {
    cwd: options.root,
    execArgv,
    // Standard output is for the command's result.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const stopChild = () => void child.kill();
  process.once('exit', stopChild);
  let problem: Extract<TestEvent, { type: 'problem' }> | undefined;
  let ended = false;
  child.on('message', (event: TestEvent) => {
    if (event.type === 'test') results.push(event);
    if (event.type === 'test') show(event);
    if (event.type === 'problem') problem = event;
    if (event.type === 'end') ended = true;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((done, failed) => {
    child.once('error', failed);
    child.once('close', (...end) => done(end));
  });
  process.off('exit', stopChild);
  if (problem) throw new CannotRun(problem.message, problem.cure);
  if (!ended) throw new CannotRun(`The process of the tests has ended early (${signal ?? `exit code ${code}`})`);
  return { results, milliseconds: Math.round(performance.now() - begun) };
}
