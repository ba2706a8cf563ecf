import { LRUCache } from 'lru-cache';
import type { WireProgram } from '../../../../shared/logic-protocol';
import { type AppsError, definitionError, isBlockFailure, logicError } from '../../common/errors';
import { WorkerFailure, type Workers } from '../../workers';
import type { LogicProgram } from '../types';
import { hasPython, withoutPython } from './python';
import { type CompiledFile, type CompileInput, MAX_COMPILE_TIME, MAX_SIZES, readCompiled } from './task-types';

/** The LogicError of a file that cannot be compiled within the limits. */
function overError(file: string, failure: WorkerFailure): AppsError {
  const message =
    failure.reason === 'time'
      ? `Compiling the logic takes longer than ${MAX_COMPILE_TIME} ms`
      : 'Compiling the logic takes too much memory, or its code is nested too deeply';
  return logicError(message, { file }, failure);
}

/** A compiled program, or the error of its files. */
export type Outcome = { program: WireProgram } | { error: AppsError };

/**
 * Compiles the logic file and, file by file, its imports, so that no other file of the app is sent to a worker process.
 * Rejects when the processes cause the failure.
 */
export async function compileProgram(
  workers: Pick<Workers, 'run'>,
  key: string,
  program: LogicProgram,
  pythonInstalled = hasPython,
): Promise<Outcome> {
  const language = program.language === 'python' ? 'python' : 'javascript';
  if (language === 'python' && !pythonInstalled()) return { error: withoutPython(program.path) };
  const modules = new Map<string, WireProgram['modules'][number]>();
  const paths = [...program.files.keys()].filter((path) => /\.(js|ts|json|py)$/.test(path));
  const waiting = [program.path];
  let [time, size] = [MAX_COMPILE_TIME, 0];
  let changesBuiltIns = false;
  try {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (modules.has(path)) continue;
      const text = textOf(program, path);
      size += text.length;
      if (size > MAX_SIZES.program) {
        throw definitionError(`The logic and its imports are ${over(MAX_SIZES.program)}`, { file: program.path });
      }
      const input = { language, path, text, isEntry: path === program.path, paths } as const;
      const compiled = await compileFile(workers, input, {
        time: Math.max(1, time),
        byProcessor: true,
        group: program.scope,
      });
      time -= compiled.time;
      changesBuiltIns ||= compiled.changesBuiltIns;
      modules.set(path, { path, code: compiled.code });
      waiting.push(...compiled.imports);
    }
    return { program: { key, language, modules: [...modules.values()], ...(changesBuiltIns && { changesBuiltIns }) } };
  } catch (error) {
    if (isBlockFailure(error)) return { error };
    throw error;
  }
}

async function compileFile(
  workers: Pick<Workers, 'run'>,
  input: CompileInput,
  options: { time: number; byProcessor: true; group: string },
): Promise<CompiledFile> {
  try {
    const compiled = readCompiled(await workers.run('compileLogic', input, options), input.paths);
    if (!compiled) throw new Error(`What the compiler answers for ${input.path} is no answer`);
    return compiled;
  } catch (error) {
    throw error instanceof WorkerFailure ? overError(input.path, error) : error;
  }
}

function textOf(program: LogicProgram, path: string): string {
  const file = program.files.get(path);
  if (!file) throw logicError('There is no such file', { file: path });
  if (file.problem) throw definitionError(file.problem, { file: path });
  if (!path.endsWith('.json') && file.text.length > MAX_SIZES.file) {
    throw definitionError(`The file is ${over(MAX_SIZES.file)}`, { file: path });
  }
  return file.text;
}

const over = (size: number) => `larger than ${size / 1024} kB`;

/**
 * Compiles programs in worker processes, each once; returns a compiled one synchronously. Throws, or rejects with, the
 * LogicError or DefinitionError of a broken one.
 */
export type Compiler = (program: LogicProgram) => WireProgram | Promise<WireProgram>;

/** Compiled programs in the cache, and characters of all of them. */
const CACHE = { max: 500, maxSize: 64 * 1024 * 1024, ttlResolution: 0 };

/**
 * Milliseconds after which a program that exceeded its time or memory is compiled again: the machine may have been busy.
 */
const retryTime = 60_000;

/**
 * A broken program rejects with the same error until its revision changes. Concurrent requests for a program share one
 * compilation. ServiceUnavailableError, which is not cached, when the processes are busy or unavailable.
 */
export function createCompiler(workers: Pick<Workers, 'run'>): Compiler {
  const outcomes = new LRUCache<string, Outcome | Promise<Outcome>>(CACHE);

  const begin = (key: string, program: LogicProgram): Promise<Outcome> => {
    const outcome = compileProgram(workers, key, program);
    const isKept = () => outcomes.peek(key) === outcome;
    outcome.then(
      (known) => isKept() && outcomes.set(key, known, lifeOf(known)),
      () => isKept() && outcomes.delete(key),
    );
    outcomes.set(key, outcome, { size: 1 });
    return outcome;
  };

  return (program) => {
    const key = `${program.scope}@${program.revision}:${program.path}`;
    const outcome = outcomes.get(key) ?? begin(key, program);
    return outcome instanceof Promise ? outcome.then(programIn) : programIn(outcome);
  };
}

function programIn(outcome: Outcome): WireProgram {
  if ('error' in outcome) throw outcome.error;
  return outcome.program;
}

/** The characters of a compiled program; the time until the files are compiled again, if that can help. */
function lifeOf(outcome: Outcome): { size: number; ttl?: number } {
  if ('error' in outcome) return { size: 1, ttl: outcome.error.cause instanceof WorkerFailure ? retryTime : 0 };
  return {
    size: Math.max(
      1,
      outcome.program.modules.reduce((sum, { code }) => sum + code.length, 0),
    ),
  };
}
