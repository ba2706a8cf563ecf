/** Maximal numbers of characters. */
export const MAX_SIZES = {
  /** One file of logic, JSON files excepted. */
  file: 256 * 1024,
  /** A logic file and all its imports, JSON files included. */
  program: 2 * 1024 * 1024,
  /** One compiled file. */
  compiled: 4 * 1024 * 1024,
};

/** Milliseconds for compiling one program. */
export const MAX_COMPILE_TIME = 2000;

/** One file for the compiler. */
export interface CompileInput {
  language: 'javascript' | 'python';
  path: string;
  text: string;
  /** Whether it is the logic file itself. */
  isEntry: boolean;
  /** All files of the app's folder that an import may name. */
  paths: string[];
}

/** A script that defines a module in the sandbox (`prelude/modules.ts`), or a Python text. */
export interface CompiledFile {
  code: string;
  /** Paths of the files that it imports, or may import; each is in `paths`. */
  imports: string[];
  /** Whether the code seems to change built-ins or globals, or to use what only a context of its own has. */
  changesBuiltIns: boolean;
  /** Milliseconds of the compilation. */
  time: number;
}

/** Parses the compiler's answer; undefined when it is not one. */
export function readCompiled(output: unknown, paths: readonly string[]): CompiledFile | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const { code, imports, time, changesBuiltIns } = output as Partial<Record<keyof CompiledFile, unknown>>;
  if (typeof code !== 'string' || code.length > MAX_SIZES.compiled || typeof time !== 'number') return undefined;
  const known = new Set<unknown>(paths);
  const isList = Array.isArray(imports) && imports.every((path) => known.has(path));
  if (!isList || typeof changesBuiltIns !== 'boolean') return undefined;
  return { code, imports: imports as string[], time, changesBuiltIns };
}
