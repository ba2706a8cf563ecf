import type { WireProgram } from '../../../../sandbox/src/protocol';
import { WorkerFailure, type Workers } from '../../workers';
import type { LogicProgram } from '../types';
import { logicError } from './errors';
import { compileProgram, type Outcome } from './program';

export { logicError };

/**
 * Compiles programs in worker processes, each once; one that is compiled already is returned at once. Throws, or rejects
 * with, the LogicError or DefinitionError of a broken one.
 */
export type Compiler = (program: LogicProgram) => WireProgram | Promise<WireProgram>;

interface Entry {
  outcome: Outcome | Promise<Outcome>;
  /** Characters of the compiled program; 0 while it is not known. */
  size: number;
  /** When it is forgotten, by `performance.now()`. */
  end: number;
}

/** Programs kept compiled, and characters of all of them; the least recently used goes first. */
const kept = { programs: 500, size: 64 * 1024 * 1024 };

/**
 * Milliseconds after which a program that went over its time or memory is compiled again: the machine may have been at
 * fault.
 */
const retryTime = 60_000;

/**
 * A broken program rejects with the same error until its revision changes. Requests for a program that is being compiled
 * wait for the same work. ServiceUnavailableError, which is not remembered, when the processes are busy or not there.
 */
export function createCompiler(workers: Pick<Workers, 'run'>): Compiler {
  const entries = new Map<string, Entry>();
  let size = 0;

  const remove = (key: string) => {
    size -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  };
  const keep = (key: string, entry: Entry) => {
    remove(key);
    entries.set(key, entry);
    size += entry.size;
    while (entries.size > kept.programs || size > kept.size) remove(entries.keys().next().value as string);
  };
  const begin = (key: string, program: LogicProgram): Entry => {
    const outcome = compileProgram(workers, key, program);
    const entry: Entry = { outcome, size: 0, end: Number.POSITIVE_INFINITY };
    const isKept = () => entries.get(key) === entry;
    outcome.then(
      (known) => isKept() && keep(key, { ...entry, outcome: known, ...lifeOf(known) }),
      () => isKept() && remove(key),
    );
    return entry;
  };

  return (program) => {
    const key = `${program.scope}@${program.revision}:${program.path}`;
    const known = entries.get(key);
    const entry = known && known.end > performance.now() ? known : begin(key, program);
    keep(key, entry);
    return entry.outcome instanceof Promise ? entry.outcome.then(programIn) : programIn(entry.outcome);
  };
}

function programIn(outcome: Outcome): WireProgram {
  if ('error' in outcome) throw outcome.error;
  return outcome.program;
}

function lifeOf(outcome: Outcome): Partial<Entry> {
  if ('program' in outcome) return { size: outcome.program.modules.reduce((sum, { code }) => sum + code.length, 0) };
  return outcome.error.cause instanceof WorkerFailure ? { end: performance.now() + retryTime } : {};
}
