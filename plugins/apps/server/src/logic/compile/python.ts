import { posix } from 'node:path';
import type { WireProgram } from '../../../../sandbox/src/protocol';
import type { LogicProgram } from '../types';
import { logicError } from './errors';
import { rewritePython } from './python-syntax';

/**
 * The files of a Python program: the logic file, then the files of the app's folder that its imports may name. Whether
 * they are right is found out by Python itself, which reads them in the sandbox (`sandbox/src/python`).
 */
export function compilePython(program: LogicProgram): WireProgram['modules'] {
  const modules = new Map<string, WireProgram['modules'][number]>();
  const waiting = [program.path];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    const text = program.files.get(path)?.text;
    if (text === undefined) throw logicError('There is no such file', { file: path });
    modules.set(path, { path, code: rewritePython(text) });
    waiting.push(...candidates(path, text).filter((candidate) => program.files.has(candidate)));
  }
  return [...modules.values()];
}

/** Paths that the imports of a file could mean. More than are meant do no harm. */
function candidates(path: string, text: string): string[] {
  const here = posix.dirname(path);
  return [
    ...text.matchAll(/^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b|import\b)([^#\n]*(?:\([^)]{0,2000}\))?)/gm),
  ].flatMap(([, from, names]) => {
    const named = names.match(/[\w.]+/g) ?? [];
    const modules = from === undefined ? named : [from, ...named.map((name) => joined(from, name))];
    return modules.flatMap((module) => filesOf(here, module));
  });
}

function joined(from: string, name: string): string {
  return from.endsWith('.') ? from + name : `${from}.${name}`;
}

/** The files of a module, seen from the folder `here`, from the app's folder and from its `lib/`. */
function filesOf(here: string, module: string): string[] {
  const [, dots, name] = /^(\.*)(.*)$/.exec(module) as unknown as [string, string, string];
  const folders = dots === '' ? ['', 'lib', here] : [posix.join(here, '../'.repeat(dots.length - 1))];
  const tail = name.replaceAll('.', '/');
  return folders.flatMap((folder) => [posix.join(folder, `${tail}.py`), posix.join(folder, tail, '__init__.py')]);
}
