import { runAppTests } from '../../../server/src/app-test-run';
import type { TestOutcome, TestResult, TestRunOptions } from '../../../shared/test-events';
import { CannotRun } from '../exit';

/** Results of one run, in the order in which the tests ran. */
export type Outcome = Pick<TestOutcome, 'results' | 'milliseconds'>;

/** Runs the tests. Throws CannotRun when the host does not start, there is nothing to test, or the process ends too early. */
export async function runOnce(options: TestRunOptions, show: (result: TestResult) => void): Promise<Outcome> {
  // Standard output is for the command's result.
  const { problem, ...outcome } = await runAppTests(options, { onResult: show, output: 'stderr' });
  if (problem) throw new CannotRun(problem.message, problem.cure);
  return outcome;
}
