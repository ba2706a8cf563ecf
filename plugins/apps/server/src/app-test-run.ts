import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StartedTests, TestEvent, TestOutcome, TestResult, TestRunOptions } from '../../shared/test-events';
import { packageFolder } from './package-files';

/** The programs that the build puts into dist/testing/. */
const program = (file: string) => join(packageFolder, 'dist', 'testing', file);

/** Milliseconds of a test or hook that names no other limit. */
export const TEST_TIMEOUT = 60_000;

/** Milliseconds after which a process without an answer is killed: one whose test is late reports that itself, and a stopped one ends. */
const GRACE = 3_000;

interface Options {
  onResult?(result: TestResult): void;
  /** Milliseconds after which the process is killed. */
  timeout?: number;
  /** Where what tests print goes. */
  output: 'stderr' | 'nowhere';
  /** Ends the process. */
  signal?: AbortSignal;
}

/** Runs the tests of apps in a process of their own, which holds the host (docs/decisions/app-tests.md). */
export async function runAppTests(
  run: TestRunOptions,
  { onResult, timeout, output, signal }: Options,
): Promise<TestOutcome> {
  const begun = performance.now();
  const results: TestResult[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'app-tests-'));
  const child = start({ ...run, folder }, output);
  const end = new End(child, folder);
  let problem: Extract<TestEvent, { type: 'problem' }> | undefined;
  let running = '';
  let ended = false;
  if (timeout !== undefined) end.after(timeout, () => `The tests ran longer than ${timeout / 1000} s`);
  const stop = () => {
    end.after(GRACE, () => 'The tests were stopped');
    child.kill();
  };
  signal?.addEventListener('abort', stop);
  process.once('exit', end.now);
  let silence: NodeJS.Timeout | undefined;
  child.on('message', (event: TestEvent) => {
    silence?.refresh();
    if (event.type === 'ready') silence = end.after(run.timeout + GRACE, () => busy(running, run.timeout));
    if (event.type === 'begin') running = event.title;
    if (event.type === 'test') {
      results.push(event);
      onResult?.(event);
    }
    if (event.type === 'problem') problem = event;
    if (event.type === 'end') ended = true;
  });
  const [code, killed] = await new Promise<[number | null, string | null]>((done, failed) => {
    child.once('error', failed);
    child.once('close', (...how) => done(how));
  }).finally(() => {
    signal?.removeEventListener('abort', stop);
    process.off('exit', end.now);
    end.now();
  });
  const outcome = { results, milliseconds: Math.round(performance.now() - begun) };
  const early = `The process of the tests has ended early (${killed ?? `exit code ${code}`})`;
  if (end.reason !== null) problem = { type: 'problem', message: end.reason };
  else if (!ended) problem ??= { type: 'problem', message: early };
  if (!problem) return { ...outcome, problem: null };
  const { message, cure } = problem;
  return { ...outcome, problem: { message, ...(cure !== undefined && { cure }) } };
}

/** Ends a process, also one that is busy: it takes no signal but SIGKILL, and sees no time limit of its own. */
class End {
  /** Why the process was killed. */
  reason: string | null = null;
  private readonly timers: NodeJS.Timeout[] = [];

  /** @param folder what the process may leave behind */
  constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  after(milliseconds: number, reason: () => string): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.reason = reason();
      this.child.kill('SIGKILL');
    }, milliseconds);
    this.timers.push(timer);
    return timer;
  }

  readonly now = (): void => {
    for (const timer of this.timers) clearTimeout(timer);
    this.child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

function start(run: StartedTests, output: Options['output']): ChildProcess {
  const execArgv = [
    '--no-warnings',
    `--test-reporter=${pathToFileURL(program('reporter.mjs')).href}`,
    '--test-reporter-destination=stdout',
  ];
  const printed = output === 'stderr' ? 2 : 'ignore';
  return fork(program('main.js'), [JSON.stringify(run)], {
    cwd: run.root,
    execArgv,
    stdio: ['ignore', printed, printed, 'ipc'],
  });
}

/** @param title as of the event `begin`: `["rating","tests/rating.test.js"] > the votes > are counted` */
function busy(title: string, limit: number): string {
  const [, file = '[""]', own = ''] = /^(\[".*?"\]) > (.*)$/s.exec(title) ?? [];
  const [app] = JSON.parse(file) as string[];
  const what = app ? `The test ${[app, ...own.split(' > ')].join(' › ')}` : 'The code around the tests';
  return `${what} has kept the process busy for more than ${limit / 1000} s`;
}
