import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildWorker } from '../../../build.mjs';
import { AppsError } from '../../common/errors';
import { createWorkers, WorkerFailure, type Workers } from '../../workers';
import { inProcess, programOf } from '../testing/harness';
import { createCompiler } from '.';
import { type CompileInput, MAX_SIZES } from './task-types';

/** The compiled program, or the compiler's error. */
async function outcome(compile: ReturnType<typeof createCompiler>, program: Parameters<typeof compile>[0]) {
  try {
    return await compile(program);
  } catch (error) {
    return error;
  }
}

/** Cases whose titles have the beginning of the text. */
const titled = <T extends unknown[]>(cases: [ending: string, text: string, ...rest: T][]) =>
  cases.map(([ending, text, ...rest]) => [ending, text.slice(0, 20), text, ...rest] as const);

/** A compiler whose worker processes give the answers of the test. */
function counting(run: Workers['run'] = inProcess.run) {
  const tasks = vi.fn(run);
  return { tasks, compile: createCompiler({ run: tasks }) };
}

describe('a program is compiled once', () => {
  test('for a revision and path, synchronously the second time', async () => {
    const { tasks, compile } = counting();
    const program = programOf('function f() {}');
    const compiled = await compile(program);
    expect(compile({ ...program })).toBe(compiled);
    expect(await compile({ ...program, revision: 'next' })).not.toBe(compiled);
    expect(tasks).toHaveBeenCalledTimes(2);
  });

  test('for concurrent requests', async () => {
    const { tasks, compile } = counting();
    const program = programOf('function f() {}');
    const [first, second] = await Promise.all([compile(program), compile(program)]);
    expect(first).toBe(second);
    expect(tasks).toHaveBeenCalledTimes(1);
  });

  test('also when it is broken', async () => {
    const { tasks, compile } = counting();
    const first = await outcome(compile, programOf(')'));
    expect(first).toMatchObject({ name: 'LogicError', position: { line: 1, column: 1 } });
    expect(await outcome(compile, programOf(')'))).toBe(first);
    expect(tasks).toHaveBeenCalledTimes(1);
  });

  test('and only files that it imports are sent to a worker', async () => {
    const { tasks, compile } = counting();
    const files = { 'blocks/a.js': "import '../lib/b';", 'lib/b.js': '', 'lib/c.js': '', 'a.html': '' };
    await compile(programOf(files, 'blocks/a.js'));
    const inputs = tasks.mock.calls.map(([, input]) => input as CompileInput);
    expect(inputs.map(({ path }) => path)).toEqual(['blocks/a.js', 'lib/b.js']);
    expect(inputs[0]?.paths).toEqual(['blocks/a.js', 'lib/b.js', 'lib/c.js']);
  });
});

describe('a failed compilation', () => {
  afterEach(() => void vi.restoreAllMocks());

  const failures: [WorkerFailure['reason'], RegExp][] = [
    ['time', /longer than 2000 ms/],
    ['ended', /too much memory/],
  ];
  test.each(failures)('%s: a LogicError for a minute', async (reason, message) => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const { tasks, compile } = counting(() => Promise.reject(new WorkerFailure(reason)));
    const expected = {
      name: 'LogicError',
      message: expect.stringMatching(message),
      position: { file: 'blocks/test.js' },
    };
    const first = await outcome(compile, programOf(''));
    expect(first).toMatchObject(expected);
    expect(await outcome(compile, programOf(''))).toBe(first);
    expect(tasks).toHaveBeenCalledTimes(1);
    now.mockReturnValue(62_000);
    expect(await outcome(compile, programOf(''))).toMatchObject(expected);
    expect(tasks).toHaveBeenCalledTimes(2);
  });

  const passing: [string, unknown, object][] = [
    ['no process', new AppsError('ServiceUnavailableError', 'busy'), { name: 'ServiceUnavailableError' }],
    ['a fault of the compiler', new TypeError('a mistake'), { message: 'a mistake' }],
  ];
  test.each(passing)('%s: not cached', async (_name, error, expected) => {
    const { tasks, compile } = counting();
    tasks.mockRejectedValueOnce(error);
    expect(await outcome(compile, programOf(''))).toMatchObject(expected);
    expect(await outcome(compile, programOf(''))).toMatchObject({ language: 'javascript' });
  });

  const answers = [undefined, {}, { code: 1, imports: [], time: 1 }, { code: '', imports: ['other.js'], time: 1 }];
  test.each(answers)('an invalid answer: %j', async (answer) => {
    const { compile } = counting(() => Promise.resolve(answer));
    expect(await outcome(compile, programOf(''))).toMatchObject({ message: expect.stringContaining('no answer') });
  });

  const long = `//${'x'.repeat(MAX_SIZES.file)}`;
  const json = JSON.stringify('x'.repeat(MAX_SIZES.file * 3));
  const many = Object.fromEntries([0, 1, 2].map((n) => [`lib/${n}.json`, json]));
  const large: [string, Record<string, string>, string, RegExp][] = [
    ['a script', { 'blocks/a.js': long }, 'blocks/a.js', /larger than 256 kB/],
    ['TypeScript', { 'blocks/a.ts': long }, 'blocks/a.ts', /larger than 256 kB/],
    ['Python', { 'blocks/a.py': long }, 'blocks/a.py', /larger than 256 kB/],
    ['an import', { 'blocks/a.js': "import '../b';", 'b.js': long }, 'b.js', /larger than 256 kB/],
    [
      'all together',
      { 'blocks/a.js': "import '../lib/0';import '../lib/1';import '../lib/2';", ...many },
      'blocks/a.js',
      /imports are larger than 2048 kB/,
    ],
  ];
  test.each(large)('too large: %s', async (_name, files, file, message) => {
    const { compile } = counting();
    expect(await outcome(compile, programOf(files, Object.keys(files)[0]))).toMatchObject({
      name: 'DefinitionError',
      message: expect.stringMatching(message),
      position: { file },
    });
  });

  test('an unreadable file', async () => {
    const program = programOf({ 'blocks/a.js': "import '../b';", 'b.js': '' }, 'blocks/a.js');
    const files = new Map([
      ...program.files,
      ['b.js', { path: 'b.js', text: '', problem: 'The file is not UTF-8 text' }],
    ]);
    expect(await outcome(counting().compile, { ...program, files })).toMatchObject({
      name: 'DefinitionError',
      message: 'The file is not UTF-8 text',
      position: { file: 'b.js' },
    });
  });
});

describe('in a worker process', () => {
  const folder = join(__dirname, `../../../../node_modules/.cache/apps-compile-${randomUUID()}`);
  const path = join(folder, 'worker.js');
  const logger = { error: vi.fn() };
  let workers: Workers;
  beforeAll(async () => {
    await buildWorker(path);
    workers = createWorkers({ path, count: 1, memory: 256, logger });
  });
  afterAll(async () => {
    await workers.destroy();
    await rm(folder, { recursive: true });
  });

  const cases: [string, string, RegExp][] = [
    ['ts', '<a>('.repeat(24), /longer than 2000 ms/],
    ['ts', 'async<a>('.repeat(24), /longer than 2000 ms/],
    ['js', '`${'.repeat(3000), /nested too deeply|SyntaxError/],
    ['js', '['.repeat(2000), /SyntaxError/],
    ['js', `import a from './${'x'.repeat(1000)}'`, /no such file/],
  ];
  // The limit is two seconds of processor time, which a busy machine takes longer to give.
  test.each(titled(cases))('%s %s is answered', { timeout: 30_000 }, async (ending, _start, text, message) => {
    const program = programOf({ [`blocks/a.${ending}`]: text }, `blocks/a.${ending}`);
    expect(await outcome(createCompiler(workers), program)).toMatchObject({
      name: 'LogicError',
      message: expect.stringMatching(message),
      position: { file: `blocks/a.${ending}` },
    });
    expect(logger.error).not.toHaveBeenCalled();
  });
});

describe('long files are compiled', () => {
  const names = Array.from({ length: 5_000 }, (_, n) => `export const a${n}=1;`);
  const cases: [string, string][] = [
    ['js', 'export{};'.repeat(29_000)],
    ['js', names.join('')],
    ['py', `from ${'.'.repeat(100_000)} import ${'a,'.repeat(70_000)}`],
    ['py', `from a.${'b'.repeat(100_000)} import ${'a,'.repeat(70_000)}`],
    ['py', `from . import (\n${'a,'.repeat(100_000)})`],
  ];
  test.each(titled(cases))('%s %s', async (ending, _start, text) => {
    const program = programOf({ [`blocks/a.${ending}`]: text }, `blocks/a.${ending}`);
    expect(await outcome(counting().compile, program)).toMatchObject({ modules: [{ path: program.path }] });
  });
});
