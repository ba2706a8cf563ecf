import { LRUCache } from 'lru-cache';
import type { WireProgram } from '../../../../shared/logic-protocol';
import { WorkerFailure, type Workers } from '../../workers';
import type { LogicProgram } from '../types';
import { compileProgram, type Outcome } from './program';

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
