/**
 * Messages of the process that runs the tests of apps to the command line (docs/reference/app-tests.md), by Node's channel
 * between parent and child.
 */
export type TestEvent =
  /** The host has started; the test files that will run, by app. */
  | { type: 'ready'; files: number }
  /** A test begins: the title of its file, and those of its groups and its own, with ` > ` between them. */
  | { type: 'begin'; title: string }
  /** Sent each second while tests run: the process is not busy. */
  | { type: 'alive' }
  | TestResult
  /** All tests have run. */
  | { type: 'end' }
  /** No test can run. */
  | { type: 'problem'; message: string; cure?: string };

export interface TestResult {
  type: 'test';
  app: string;
  /** Relative to the app's folder. */
  file: string;
  /** Titles of the groups around the test, and its own. */
  title: string[];
  status: 'passed' | 'failed' | 'skipped';
  milliseconds: number;
  failure?: TestFailure;
}

export interface TestFailure {
  message: string;
  /** Lines of the test file that led to it, the innermost first. */
  at: { file: string; line: number; column: number; excerpt: string | null }[];
  /** Errors of the app that the server has logged during the test. */
  errors: LogicLine[];
  /** All other lines that it has logged. */
  log: string[];
}

/** A line of the log, and the line of the theme's file that it is about. */
export interface LogicLine {
  message: string;
  /** `apps/rating/blocks/rate.js:3`; null if the line names no file. */
  at: string | null;
  excerpt: string | null;
}

export interface TestRunOptions {
  /** Absolute path of the host's folder. */
  root: string;
  /** Absolute path of the themes folder. */
  themes: string;
  /** Id of the app; all apps of the theme without it. */
  app?: string;
  /** Id of the site; the first one without it. */
  site?: string;
  /** Regular expression that the titles of tests must match. */
  pattern?: string;
  /** Milliseconds of a test or hook that names no other limit. */
  timeout: number;
}

/** What the process is started with, as JSON in its only argument. */
export interface StartedTests extends TestRunOptions {
  /** Absolute path of an empty folder for the database and files. */
  folder: string;
}

/** How tests have ended. */
export type TestOutcome =
  /** Results in the order in which the tests ran. */
  | { results: TestResult[]; milliseconds: number; problem: null }
  /** They could not run, or not to their end. */
  | { results: TestResult[]; milliseconds: number; problem: { message: string; cure?: string } };
