import type { PreludeLimits, PreludeRequest } from '../../../shared/logic-protocol';
import { again, later } from '../replies';
import { createAnswers, isThenable, type Work } from './answers';
import { askRunner, createExchange, type HostReference } from './bridge';
import { chances } from './chance';
import { createContext, type LogicContext } from './context/context';
import { nextSession, sessionNumber } from './each-session';
import { errorText, refused } from './errors';
import { defineGlobals, removeGlobals } from './globals';
import { createLog, type Log } from './log';
import { createModules, type Defined, hideDefine, offerDefine } from './modules';
import { exceeds, keys, NativeError, NativeRangeError, NativeTypeError, parse, stringify } from './primordials';
import { createRecords, type Records } from './records/records';
import { harden } from './reuse/harden';
import { makeRandomSeedable, type Seed } from './reuse/random';
import { sharedObjects } from './reuse/shared';

type OpenRequest = Extract<PreludeRequest, { op: 'open' }>;

/** What a context has for one session. */
interface Session {
  limits: PreludeLimits;
  now: number | undefined;
  context: LogicContext;
  functions: Map<string, (context: object) => unknown>;
  records: Records;
  log: Log;
}

/** The functions of a context, for the runner. Logic cannot make them return anything but text, or throw. */
export interface Prelude {
  /**
   * Takes the program, once, before the first request.
   * @param isReused whether the context serves several sessions
   * @param isAsync whether its code has promises: results are then awaited even where they are none, so that what a function has
   *   begun and does not await goes on before its changes are written
   */
  install(isReused: boolean, isAsync: boolean, ...modules: Defined[]): void;
  /**
   * JSON text of a `PreludeRequest` in, JSON text of a `PreludeAnswer` out, or `later`, or `again`.
   * @param seed of random numbers, for a session in a reused context
   */
  entry(request: string, ...seed: Seed | []): string;
  /** The answer after `later`. */
  take(): string;
  /**
   * Ends the session in a reused context: no function of it reaches the server any more, and nothing of it is kept. Whether the
   * context is as it was before, and may serve another. No code of a theme runs.
   */
  end(): boolean;
}

/**
 * Prepares a context for the sessions of one program: one session, or in a reused context one after the other
 * (docs/decisions/reused-contexts.md).
 */
export function start(reference: HostReference): Prelude {
  removeGlobals();
  offerDefine();
  let program: Defined[] = [];
  let mustAwait = false;
  let session: Session;
  let reused: { seed(seed: Seed): void; isIntact(): boolean } | null = null;
  const answers = createAnswers(() => session?.limits.messageSize ?? 0);
  const answered = (text: string) => (reused && text !== later && refused().met ? again : text);
  defineGlobals(
    (call) => askRunner(reference, call),
    (level, message) => session.log.write(level, message),
    chances(() => session.now),
  );

  /** Begins the session; JSON text of the names of the program's functions. */
  function open({ limits, now, context, entry }: OpenRequest): string {
    nextSession();
    const mine = sessionNumber();
    const exchange = createExchange(reference, () => limits);
    const records = createRecords((calls) => {
      if (mine !== sessionNumber()) throw new NativeError('this session is over');
      return exchange(calls);
    });
    const log = createLog(records.call, () => limits);
    const functions: Session['functions'] = new Map();
    session = { limits, now, context: createContext(context, records, log), functions, records, log };
    const exported = createModules(program).evaluate(entry);
    for (const name of keys(exported)) {
      const value = exported[name];
      if (typeof value === 'function') functions.set(name, value as (context: object) => unknown);
    }
    return stringify([...functions.keys()]);
  }

  function* perform(request: PreludeRequest): Work {
    const functions = request.op === 'open' ? open(request) : '';
    const { limits, context, records } = session;
    if (request.op !== 'open') {
      if (request.record !== undefined) context.setRecord(request.record);
      if (request.request !== undefined) context.setRequest(request.request);
      if (request.op === 'properties') return properties(session);
    }
    const calls = request.calls ?? [];
    let outcomes = '';
    let index = 0;
    // Not in a function of its own: `yield*` would use the iterators' `next`, which logic may have changed.
    for (let one = calls[index]; one; index += 1, one = calls[index]) {
      const { name, contained } = one;
      if (index > 0) outcomes += ',';
      let failure: unknown;
      try {
        const run = session.functions.get(name);
        const result = run?.(context.view);
        const value = mustAwait || isThenable(result) ? yield { name, result } : result;
        outcomes += run ? `{"defined":true,"value":${resultText(name, value, limits.resultSize)}}` : undefinedOutcome;
      } catch (error) {
        if (!contained) throw error;
        failure = error;
        outcomes += `{"error":${errorText(error)}}`;
      }
      records.ended(failure);
      // Not contained, and before the next function: a refused change is one of the function that fails with it.
      records.flush();
    }
    if (mustAwait && calls.length > 0) {
      // What functions have begun and nothing awaits.
      yield null;
      records.ended();
      records.flush();
    }
    return request.op === 'open' ? `{"functions":${functions},"outcomes":[${outcomes}]}` : `[${outcomes}]`;
  }

  return {
    install(isReused, isAsync, ...modules) {
      hideDefine();
      program = modules;
      mustAwait = isAsync;
      if (isReused) reused = { seed: makeRandomSeedable(), isIntact: harden([...sharedObjects, ...modules]) };
    },
    entry(request, ...seed) {
      if (reused && seed.length > 0) reused.seed(seed as Seed);
      return answered(answers.begin(perform(parse(request) as PreludeRequest)));
    },
    take: () => answered(answers.take()),
    end() {
      nextSession();
      session = null as never;
      answers.forget();
      return reused?.isIntact() === true;
    },
  };
}

const undefinedOutcome = '{"defined":false,"value":null}';

function properties({ context, limits }: Session): string {
  const json = stringify(context.properties());
  if (exceeds(json, limits.resultSize)) throw tooLarge('What was set on context', limits.resultSize);
  return json;
}

/** JSON text of a function's result; undefined, functions and symbols are null. */
function resultText(name: string, value: unknown, limit: number): string {
  if (typeof value === 'bigint')
    throw new NativeTypeError(`The result of ${name} is a BigInt, which JSON does not have`);
  const json = (stringify(value) as string | undefined) ?? 'null';
  if (exceeds(json, limit)) throw tooLarge(`The result of ${name}`, limit);
  return json;
}

function tooLarge(what: string, limit: number): Error {
  return new NativeRangeError(`${what} is larger than ${limit} bytes`);
}
