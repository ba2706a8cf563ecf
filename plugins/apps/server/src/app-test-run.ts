import { fork } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestEvent, TestOutcome, TestResult, TestRunOptions } from '../../shared/test-events';
import { packageFolder } from './package-files';

/** The programs that the build puts into dist/testing/. */
const program = (file: string) => join(packageFolder, 'dist', 'testing', file);

interface Options {
  onResult?(result: TestResult): void;
  /** Milliseconds after which the process is killed. */
  timeout?: number;
  /** Where what tests print goes. */
  output: 'stderr' | 'nowhere';
}

/** Runs the tests of apps in a process of their own, which holds the host (docs/decisions/app-tests.md). */
export async function runAppTests(run: TestRunOptions, { onResult, timeout, output }: Options): Promise<TestOutcome> {
  const begun = performance.now();
  const results: TestResult[] = [];
  const execArgv = [
    '--no-warnings',
    `--test-reporter=${pathToFileURL(program('reporter.mjs')).href}`,
    '--test-reporter-destination=stdout',
  ];
  const printed = output === 'stderr' ? 2 : 'ignore';
  const child = fork(program('main.js'), [JSON.stringify(run)], {
    cwd: run.root,
    execArgv,
    stdio: ['ignore', printed, printed, 'ipc'],
  });
  const stopChild = () => void child.kill();
  process.once('exit', stopChild);
  let problem: Extract<TestEvent, { type: 'problem' }> | undefined;
  let ended = false;
  let isLate = false;
  const timer = timeout === undefined ? undefined : setTimeout(kill, timeout);
  function kill() {
    isLate = true;
    child.kill('SIGKILL');
  }
  child.on('message', (event: TestEvent) => {
    if (event.type === 'test') {
      results.push(event);
      onResult?.(event);
    }
    if (event.type === 'problem') problem = event;
    if (event.type === 'end') ended = true;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((done, failed) => {
    child.once('error', failed);
    child.once('close', (...end) => done(end));
  }).finally(() => {
    clearTimeout(timer);
    process.off('exit', stopChild);
  });
  const outcome = { results, milliseconds: Math.round(performance.now() - begun) };
  const early = `The process of the tests has ended early (${signal ?? `exit code ${code}`})`;
  if (isLate) problem = { type: 'problem', message: `The tests ran longer than ${(timeout ?? 0) / 1000} s` };
  else if (!ended) problem ??= { type: 'problem', message: early };
  if (!problem) return { ...outcome, problem: null };
  const { message, cure } = problem;
  return { ...outcome, problem: { message, ...(cure !== undefined && { cure }) } };
}
