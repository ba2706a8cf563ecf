import { watch } from 'node:fs';
import { relative } from 'node:path';
import { runAppTests, TEST_TIMEOUT } from '../../server/src/app-test-run';
import type { LogicLine, TestFailure, TestOutcome, TestResult, TestRunOptions } from '../../shared/test-events';
import { CannotRun, type ExitCode, exitCodes, type RunCommand } from './command';
import type { Output } from './output';

/** Results of one run, in the order in which the tests ran. */
type Outcome = Pick<TestOutcome, 'results' | 'milliseconds'>;

/** Runs the tests. Throws CannotRun when the host does not start, there is nothing to test, or the process ends too early. */
export async function runOnce(options: TestRunOptions, show: (result: TestResult) => void): Promise<Outcome> {
  const ended = new AbortController();
  const end = (signal: NodeJS.Signals) => ended.abort(signal);
  for (const signal of endings) process.on(signal, end);
  // Standard output is for the command's result.
  const how = { onResult: show, output: 'stderr', signal: ended.signal } as const;
  const { problem, ...outcome } = await runAppTests(options, how).finally(() => {
    for (const signal of endings) process.off(signal, end);
  });
  // The process of the tests has ended: now this one does, as it would without them.
  if (ended.signal.aborted) process.kill(process.pid, ended.signal.reason as NodeJS.Signals);
  if (problem) throw new CannotRun(problem.message, problem.cure);
  return outcome;
}

/** Signals that end the command. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const signs = { passed: ['green', '✔'], failed: ['red', '✖'], skipped: ['yellow', '-'] } as const;

const titleOf = ({ app, title }: TestResult) => [app, ...title].join(' › ');

/** One line for a test that has run. */
function showResult(output: Output, result: TestResult): void {
  const [style, sign] = signs[result.status];
  const time = result.status === 'skipped' ? 'skipped' : `${result.milliseconds} ms`;
  output.line(`${output.paint(style, sign)} ${titleOf(result)} ${output.paint('dim', `(${time})`)}`);
}

/** The failures and the counts. @returns 1 if a test has failed */
function showOutcome(output: Output, { results, milliseconds }: Outcome): ExitCode {
  const count = (status: TestResult['status']) => results.filter((one) => one.status === status).length;
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  for (const result of results) {
    const { failure } = result;
    if (!failure) continue;
    output.line();
    output.line(output.paint('red', `✖ ${titleOf(result)}`));
    for (const line of linesOf(failure)) output.line(`  ${line}`);
  }
  output.line();
  const { passed, failed, skipped } = counts;
  const seconds = (milliseconds / 1000).toFixed(1);
  output.line(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''} (${seconds} s)`);
  output.data({ ...counts, milliseconds, tests: results });
  return failed > 0 ? exitCodes.problems : exitCodes.fine;
}

/** What is known of a failure: the message, where the test failed, what the app's files have to do with it, the log. */
function linesOf({ message, at, errors, log }: TestFailure): string[] {
  const places = at.flatMap(({ file, line, column, excerpt }) => [
    `at ${relative(process.cwd(), file)}:${line}:${column}`,
    ...indented(excerpt),
  ]);
  // The message of a failed request ends with what the log says of it.
  const isKnown = (error: LogicLine) => message.includes(error.message.replace(/^\[apps\] \S+ \S+: /, ''));
  const logged = errors.flatMap((error) => [
    isKnown(error) && error.at !== null ? `at ${error.at}` : `log: ${error.message}`,
    ...indented(error.excerpt),
  ]);
  return [...message.split('\n'), ...places, ...logged, ...log.map((line) => `log: ${line}`)];
}

const indented = (excerpt: string | null) => (excerpt === null ? [] : excerpt.split('\n').map((line) => `    ${line}`));

/** Milliseconds without a change before the tests run again: an editor saves in several steps. */
const DEBOUNCE = 200;

/** `strapi-plugin-apps test` (docs/reference/app-tests.md). */
export const run: RunCommand = async (invocation) => {
  const { options, args, output } = invocation;
  const host = invocation.host();
  const started = {
    root: host.requireRoot(),
    themes: host.themes,
    timeout: typeof options.timeout === 'string' ? milliseconds(options.timeout) : TEST_TIMEOUT,
    ...(args.app !== undefined && { app: args.app }),
    ...(typeof options.site === 'string' && { site: options.site }),
    ...(typeof options.name === 'string' && { pattern: checkedPattern(options.name) }),
  };
  const once = async (): Promise<ExitCode> => {
    const outcome = await runOnce(started, (result) => showResult(output, result));
    if (outcome.results.length === 0)
      throw new CannotRun(
        started.pattern ? `No test has a name that matches ${started.pattern}` : 'The files have no tests',
      );
    return showOutcome(output, outcome);
  };
  if (!options.watch) return once();
  const changes = changesIn(host.themes);
  for (;;) {
    const code = await once().catch((error: Error): ExitCode => {
      output.note(error.message);
      return exitCodes.cannotRun;
    });
    // The reader of the output has ended.
    if (process.stdout.errored) return code;
    output.note(`Waiting for a change in ${host.themes}`);
    await changes();
  }
};

function checkedPattern(pattern: string): string {
  try {
    new RegExp(pattern);
    return pattern;
  } catch (error) {
    throw new CannotRun(`--name: ${(error as Error).message}`);
  }
}

function milliseconds(seconds: string): number {
  if (/^[1-9]\d{0,4}$/.test(seconds)) return Number(seconds) * 1000;
  throw new CannotRun('--timeout: this must be a whole number of seconds, from 1 to 99999');
}

/** A function that waits for a change below the folder: one since the call before, also while nothing waited, is enough. */
function changesIn(folder: string): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let hasChanged = false;
  let wake = () => {};
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      hasChanged = true;
      wake();
    }, DEBOUNCE);
  });
  return async () => {
    if (!hasChanged) await new Promise<void>((done) => (wake = done));
    hasChanged = false;
  };
}
