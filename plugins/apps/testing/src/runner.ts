import { strict as assert } from 'node:assert';
import { readFileSync, statSync } from 'node:fs';
import Module from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import * as runner from 'node:test';
import { transform } from 'sucrase';
import type { TestEvent } from '../../shared/test-events';
import { AppFailure, forgetLog, loggedErrors, loggedLines } from './failures';
import type { TestFile } from './files';

type TestFunction = (context: runner.TestContext) => unknown;

/** What a failed test shows besides its error: kept at the error, which the reporter gets (reporter.ts). */
export interface WithLog {
  appsErrors?: ReturnType<typeof loggedErrors>;
  appsLog?: string[];
}

/** Names under which tests import what they are given. */
const SPECIFIER = 'strapi-plugin-apps/testing';

interface TestOptions {
  /** Folders that paths of messages are relative to: those of the themes. */
  folders: readonly string[];
  /** Titles that run; all without it. */
  pattern: RegExp | undefined;
  /** Milliseconds of a test or hook that names no other limit. */
  timeout: number;
  /** Called for each test of the file: whether it will run. */
  found(runs: boolean): void;
}

type Register = (...given: unknown[]) => unknown;

/** `test` or `describe` of node:test, wrapped with its variants. */
function wrapped<F>(given: F, wrap: (register: Register, variant?: 'skip') => Register): F {
  const variantsOf = given as Record<'skip' | 'todo' | 'only', Register>;
  const { skip, todo, only } = variantsOf;
  const variants = { skip: wrap(skip, 'skip'), todo: wrap(todo), only: wrap(only) };
  return Object.assign(wrap(given as Register), variants) as F;
}

/** The options among the arguments of `test` or `describe`. */
const optionsIn = (given: readonly unknown[]) =>
  given.find((one) => typeof one === 'object' && one !== null) as { skip?: unknown; timeout?: number } | undefined;

/** `test` of node:test for one file; the error of a test gets what the server has logged during it. */
const testOf = ({ folders, pattern, timeout, found }: TestOptions) =>
  wrapped(runner.test, (test) => (...given) => {
    const [title] = given;
    const runs = !pattern || (typeof title === 'string' && pattern.test(title));
    found(runs);
    if (!runs) return Promise.resolve();
    const name = given.filter((one) => typeof one === 'string');
    const run = given.find((one) => typeof one === 'function') as TestFunction | undefined;
    const options = { timeout, ...optionsIn(given) };
    return test(...name, options, run && ((context: runner.TestContext) => withLog(folders, () => run(context))));
  });

/** `describe` for one file: the tests of a skipped group are not known, and it counts as one. */
const groupOf = ({ pattern, found }: TestOptions) =>
  wrapped(runner.describe, (describe, variant) => (...given) => {
    const isSkipped = variant === 'skip' || Boolean(optionsIn(given)?.skip);
    if (isSkipped) found(!pattern);
    return isSkipped && pattern ? Promise.resolve() : describe(...given);
  });

type Hook = (run?: runner.HookFn, options?: runner.HookOptions) => void;

const hookOf =
  ({ timeout }: TestOptions, hook: Hook): Hook =>
  (run, options) =>
    hook(run, { timeout, ...options });

async function withLog(folders: readonly string[], run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(`The test has thrown ${String(thrown)}`);
    const errors = loggedErrors(folders);
    const log = loggedLines().filter((line) => !errors.some(({ message }) => message === line));
    throw Object.assign(error, { appsErrors: errors, appsLog: log } satisfies WithLog);
  }
}

interface RunOptions extends Omit<TestOptions, 'found'> {
  files: readonly TestFile[];
  /** What a file's tests import as `app`. */
  tested(file: TestFile): unknown;
  /** Before each test. */
  begin(): Promise<void>;
}

/** What a file's tests import, but for `app`. */
function given(options: TestOptions): Record<string, unknown> {
  const { after, afterEach, before, beforeEach } = runner;
  const hooks = Object.entries({ after, afterEach, before, beforeEach });
  const limited = hooks.map(([name, hook]) => [name, hookOf(options, hook)]);
  const own = { AppFailure, assert, test: testOf(options), describe: groupOf(options) };
  return { ...own, ...Object.fromEntries(limited) };
}

/** Registers the tests of all files; resolves when they have run. A file that does not load is a failed test. */
export function runTests({ files, tested, begin, ...options }: RunOptions): Promise<void> {
  /** The full name of the test that runs; a test inside it belongs to it. */
  let running = '';
  runner.beforeEach(async (context) => {
    const { fullName } = context as runner.TestContext;
    if (running && fullName.startsWith(`${running} > `)) return;
    running = fullName;
    send({ type: 'begin', title: fullName });
    await begin();
    forgetLog();
  });
  // A group after it may have the same title.
  runner.afterEach((context) => {
    if ((context as runner.TestContext).fullName === running) running = '';
  });
  const waiting = new Set(files);
  return new Promise((done) => {
    const end = (file: TestFile) => {
      waiting.delete(file);
      if (waiting.size === 0) done();
    };
    for (const file of files) {
      const counts = { all: 0, running: 0 };
      const found = (runs: boolean) => {
        counts.all += 1;
        if (runs) counts.running += 1;
      };
      // The reporter reads the app and the file from this title.
      runner.describe(JSON.stringify([file.app.id, file.name]), () => {
        runner.after(() => end(file));
        try {
          loadTestFile(file.path, { [SPECIFIER]: { ...given({ ...options, found }), app: tested(file) } });
          if (counts.all === 0) throw new Error(`The file has no test: import { test } from '${SPECIFIER}'`);
        } catch (error) {
          counts.running += 1;
          runner.test(`${file.name} is loaded`, () => {
            throw error;
          });
        }
      });
      // A group without tests has no end.
      if (counts.running === 0) end(file);
    }
  });
}

export const send = (event: TestEvent): void => void process.send?.(event);

type CompiledModule = Module & { _compile(code: string, file: string): void };

const { _nodeModulePaths: pathsOf } = Module as unknown as { _nodeModulePaths(folder: string): string[] };

/** Files that tests may import, by their endings; the first that exists. */
const endings = ['', '.ts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

/**
 * Loads a test file, JavaScript or TypeScript with `import`, and the app's files that it imports. Every call loads them
 * again, so that files do not share state. Lines stay where they are: a stack names the author's file.
 * @param given modules by the names under which tests import them
 * @throws SyntaxError, with the position in the message; and what the file itself throws
 */
function loadTestFile(file: string, given: Readonly<Record<string, unknown>>): void {
  const loaded = new Map<string, CompiledModule>();

  const load = (path: string): unknown => {
    const known = loaded.get(path);
    if (known) return known.exports;
    const module = new Module(path) as CompiledModule;
    loaded.set(path, module);
    module.filename = path;
    module.paths = pathsOf(dirname(path));
    const usual = module.require.bind(module);
    module.require = ((name: string) => {
      if (Object.hasOwn(given, name)) return given[name];
      if (!/^\.{1,2}(\/|$)/.test(name)) return usual(name);
      const found = existing(resolve(dirname(path), name));
      if (!found) throw new Error(`Cannot find "${name}", which ${path} imports`);
      return extname(found) === '.json' ? usual(found) : load(found);
    }) as NodeJS.Require;
    module._compile(compiled(path), path);
    module.loaded = true;
    return module.exports;
  };
  load(file);
}

function compiled(path: string): string {
  const isTypeScript = path.endsWith('.ts');
  return transform(readFileSync(path, 'utf8'), {
    transforms: isTypeScript ? ['typescript', 'imports'] : ['imports'],
    filePath: path,
    disableESTransforms: true,
  }).code;
}

function existing(path: string): string | undefined {
  return endings.map((ending) => join(path + ending)).find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
}
