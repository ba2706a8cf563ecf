import { relative } from 'node:path';
import type { LogicLine, TestFailure, TestResult } from '../../../shared/test-events';
import { type ExitCode, exitCodes } from '../exit';
import type { Output } from '../output';
import type { Outcome } from './process';

const signs = { passed: ['green', '✔'], failed: ['red', '✖'], skipped: ['yellow', '-'] } as const;

const titleOf = ({ app, title }: TestResult) => [app, ...title].join(' › ');

/** One line for a test that has run. */
export function showResult(output: Output, result: TestResult): void {
  const [style, sign] = signs[result.status];
  const time = result.status === 'skipped' ? 'skipped' : `${result.milliseconds} ms`;
  output.line(`${output.paint(style, sign)} ${titleOf(result)} ${output.paint('dim', `(${time})`)}`);
}

/** The failures and the counts. @returns 1 if a test has failed */
export function showOutcome(output: Output, { results, milliseconds }: Outcome): ExitCode {
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
