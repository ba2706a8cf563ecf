import type { WireProgram } from '../../../../sandbox/src/protocol';
import { type AppsError, isAppsError } from '../../errors';
import { WorkerFailure, type Workers } from '../../workers';
import type { LogicProgram } from '../types';
import { fileError, logicError, overError } from './errors';
import { type CompiledFile, type CompileInput, compileTime, readCompiled, sizes } from './task-types';

/** A compiled program, or what is wrong with its files. */
export type Outcome = { program: WireProgram } | { error: AppsError };

/**
 * Compiles the logic file and, file after file, what it imports, so that no other file of the app is sent to a worker
 * process. Rejects when the processes are to blame.
 */
export async function compileProgram(
  workers: Pick<Workers, 'run'>,
  key: string,
  program: LogicProgram,
): Promise<Outcome> {
  const language = program.language === 'python' ? 'python' : 'javascript';
  const modules = new Map<string, WireProgram['modules'][number]>();
  const paths = [...program.files.keys()].filter((path) => /\.(js|ts|json|py)$/.test(path));
  const waiting = [program.path];
  let [time, size] = [compileTime, 0];
  try {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (modules.has(path)) continue;
      const text = textOf(program, path);
      size += text.length;
      if (size > sizes.program) throw fileError(program.path, `The logic and its imports are ${over(sizes.program)}`);
      const input = { language, path, text, isEntry: path === program.path, paths } as const;
      const compiled = await compileFile(workers, input, {
        time: Math.max(1, time),
        byProcessor: true,
        group: program.scope,
      });
      time -= compiled.time;
      modules.set(path, { path, code: compiled.code });
      waiting.push(...compiled.imports);
    }
    return { program: { key, language, modules: [...modules.values()] } };
  } catch (error) {
    if (isAppsError(error, 'LogicError') || isAppsError(error, 'DefinitionError')) return { error };
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
  if (file.problem) throw fileError(path, file.problem);
  if (!path.endsWith('.json') && file.text.length > sizes.file) {
    throw fileError(path, `The file is ${over(sizes.file)}`);
  }
  return file.text;
}

const over = (size: number) => `larger than ${size / 1024} kB`;
