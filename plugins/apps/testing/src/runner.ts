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
  /** Called for each test of the file: whether it will run. */
  found(runs: boolean): void;
}

/** `test` of node:test for one file; the error of a test gets what the server has logged during it. */
function testOf({ folders, pattern, found }: TestOptions): typeof runner.test {
  const wrap =
    (test: (...given: never[]) => Promise<void>) =>
    (...given: unknown[]) => {
      const [title] = given;
      const runs = !pattern || (typeof title === 'string' && pattern.test(title));
      found(runs);
      if (!runs) return Promise.resolve();
      const at = given.findIndex((one) => typeof one === 'function');
      const run = given[at] as TestFunction | undefined;
      if (run) given[at] = (context: runner.TestContext) => withLog(folders, () => run(context));
      return test(...(given as never[]));
    };
  const variants = (['skip', 'todo', 'only'] as const).map((name) => [name, wrap(runner.test[name])]);
  return Object.assign(wrap(runner.test), Object.fromEntries(variants));
}

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

interface RunOptions {
  files: readonly TestFile[];
  folders: readonly string[];
  pattern: RegExp | undefined;
  /** What a file's tests import as `app`. */
  tested(file: TestFile): unknown;
  /** Before each test. */
  begin(): Promise<void>;
}

/** Registers the tests of all files; resolves when they have run. A file that does not load is a failed test. */
export function runTests({ files, folders, pattern, tested, begin }: RunOptions): Promise<void> {
  let running = '';
  runner.beforeEach(async (context) => {
    const { fullName } = context as runner.TestContext;
    // A test inside a test belongs to it.
    if (running && fullName.startsWith(`${running} > `)) return;
    running = fullName;
    await begin();
    forgetLog();
  });
  const { after, afterEach, before, beforeEach, describe } = runner;
  const shared = { AppFailure, assert, after, afterEach, before, beforeEach, describe };
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
          const test = testOf({ folders, pattern, found });
          loadTestFile(file.path, { [SPECIFIER]: { ...shared, test, app: tested(file) } });
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
