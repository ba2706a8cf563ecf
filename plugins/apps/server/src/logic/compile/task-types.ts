/** Characters that logic may have. */
export const sizes = {
  /** One file of it, JSON files excepted. */
  file: 256 * 1024,
  /** A logic file and all that it imports, JSON files included. */
  program: 2 * 1024 * 1024,
  /** One file when it is compiled. */
  compiled: 4 * 1024 * 1024,
};

/** Milliseconds for compiling one program. */
export const compileTime = 2000;

/** One file for the compiler. */
export interface CompileInput {
  language: 'javascript' | 'python';
  path: string;
  text: string;
  /** Whether it is the logic file, and not imported. */
  isEntry: boolean;
  /** All files of the app's folder that an import may name. */
  paths: string[];
}

/** A script that defines a module in the sandbox (`prelude/modules.ts`), or Python's text. */
export interface CompiledFile {
  code: string;
  /** Paths of the files that it imports, or may import; all of them are in `paths`. */
  imports: string[];
  /** Milliseconds that it took. */
  time: number;
}

/** The compiler's answer; undefined when it is none. */
export function readCompiled(output: unknown, paths: readonly string[]): CompiledFile | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const { code, imports, time } = output as Partial<Record<keyof CompiledFile, unknown>>;
  if (typeof code !== 'string' || code.length > sizes.compiled || typeof time !== 'number') return undefined;
  const known = new Set<unknown>(paths);
  const isList = Array.isArray(imports) && imports.every((path) => known.has(path));
  return isList ? { code, imports: imports as string[], time } : undefined;
}
