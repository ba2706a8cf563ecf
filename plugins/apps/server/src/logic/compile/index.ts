import type { WireProgram } from '../../../../sandbox/src/protocol';
import { AppsError } from '../../errors';
import type { LogicProgram } from '../types';
import { logicError } from './errors';
import { compileJavaScript } from './javascript';
import { compilePython } from './python';

export { logicError };

type Compiler = (program: LogicProgram) => WireProgram['modules'];

const compilers: Record<LogicProgram['language'], Compiler> = {
  javascript: compileJavaScript,
  typescript: compileJavaScript,
  python: compilePython,
};

/** Programs kept compiled; the least recently used goes first. */
const kept = 500;

/** Compiles programs, each once; one that does not compile throws the same LogicError every time. */
export function createCompiler(): (program: LogicProgram) => WireProgram {
  const compiled = new Map<string, WireProgram | AppsError>();

  function compile(key: string, program: LogicProgram): WireProgram | AppsError {
    try {
      const language = program.language === 'python' ? 'python' : 'javascript';
      return { key, language, modules: compilers[program.language](program) };
    } catch (error) {
      if (error instanceof AppsError) return error;
      throw error;
    }
  }

  return (program) => {
    const key = `${program.scope}@${program.revision}:${program.path}`;
    const found = compiled.get(key) ?? compile(key, program);
    compiled.delete(key);
    compiled.set(key, found);
    if (compiled.size > kept) compiled.delete(compiled.keys().next().value as string);
    if (found instanceof AppsError) throw found;
    return found;
  };
}
