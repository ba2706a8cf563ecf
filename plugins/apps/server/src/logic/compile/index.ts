import type { WireProgram } from '../../../../shared/logic-protocol';
import { WorkerFailure, type Workers } from '../../workers';
import type { LogicProgram } from '../types';
import { compileProgram, type Outcome } from './program';

/**
 * Compiles programs in worker processes, each once; returns a compiled one synchronously. Throws, or rejects with, the
 * LogicError or DefinitionError of a broken one.
 */
export type Compiler = (program: LogicProgram) => WireProgram | Promise<WireProgram>;

interface Entry {
  outcome: Outcome | Promise<Outcome>;
  /** Characters of the compiled program; 0 while it is unknown. */
  size: number;
  /** When it expires, by `performance.now()`. */
  end: number;
}

/** Compiled programs in the cache, and characters of all of them; the least recently used is evicted first. */
const MAX_CACHED = { programs: 500, size: 64 * 1024 * 1024 };

/**
 * Milliseconds after which a program that exceeded its time or memory is compiled again: the machine may have been busy.
 */
const retryTime = 60_000;

/**
 * A broken program rejects with the same error until its revision changes. Concurrent requests for a program share one
 * compilation. ServiceUnavailableError, which is not cached, when the processes are busy or unavailable.
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
    while (entries.size > MAX_CACHED.programs || size > MAX_CACHED.size) remove(entries.keys().next().value as string);
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
