import { logicError } from '../../common/errors';
import { compileJavaScript } from './javascript';
import { compilePython } from './python';
import { type CompiledFile, type CompileInput, MAX_SIZES } from './task-types';

/** A file for the compiler of its language. */
export type SourceFile = Pick<CompileInput, 'path' | 'text' | 'isEntry'> & {
  /** Paths of the files of the app's folder. */
  paths: ReadonlySet<string>;
};

type Compile = (file: SourceFile) => { code: string; imports: string[]; changesBuiltIns?: boolean };

const compilers: Record<CompileInput['language'], Compile> = { javascript: compileJavaScript, python: compilePython };

/** The task of the worker processes: compiles one file. Throws the LogicError of a broken one. */
export function compileLogic({ language, paths, ...file }: CompileInput): CompiledFile {
  const begin = process.cpuUsage();
  const { code, imports, changesBuiltIns = false } = compilers[language]({ ...file, paths: new Set(paths) });
  if (code.length > MAX_SIZES.compiled) throw logicError('The compiled logic is too large', { file: file.path });
  const { user, system } = process.cpuUsage(begin);
  return { code, imports: [...new Set(imports)], changesBuiltIns, time: (user + system) / 1000 };
}
