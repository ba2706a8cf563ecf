import type { PreludeLimits, PreludeRequest } from '../../../shared/logic-protocol';
import { askRunner, createExchange, type HostReference } from './bridge';
import { chances } from './chance';
import { createContext, type LogicContext } from './context/context';
import { errorText } from './errors';
import { defineGlobals } from './globals';
import { createLog } from './log';
import { looked } from './looked';
import { createModules } from './modules';
import { exceeds, keys, NativeRangeError, NativeTypeError, parse, stringify } from './primordials';
import { createRecords } from './records/records';
import { removeGlobals } from './remove-globals';

type Functions = Map<string, (context: object) => unknown>;
type OpenRequest = Extract<PreludeRequest, { op: 'open' }>;
type LogicCalls = NonNullable<OpenRequest['calls']>;

/**
 * Prepares a fresh context for one session and returns its only entry point: JSON text of a `PreludeRequest` in, JSON
 * text of a `PreludeAnswer` out. Logic cannot make it return anything but text, or throw.
 */
export function start(reference: HostReference): (request: string) => Promise<string> {
  removeGlobals();
  const modules = createModules();
  let limits: PreludeLimits = { resultSize: 0, messageSize: 0, logEntrySize: 0 };
  let context: LogicContext;
  let now: number | undefined;
  const functions: Functions = new Map();
  const records = createRecords(createExchange(reference, () => limits));
  const log = createLog(records.call, () => limits);
  defineGlobals(
    (call) => askRunner(reference, call),
    log.write,
    chances(() => now),
  );

  async function open(request: OpenRequest): Promise<string> {
    limits = request.limits;
    now = request.now;
    context = createContext(request.context, records, log);
    const exported = modules.evaluate(request.entry);
    for (const name of keys(exported)) {
      const value = exported[name];
      if (typeof value === 'function') functions.set(name, value as (context: object) => unknown);
    }
    return `{"functions":${stringify([...functions.keys()])},"outcomes":${await call(request.calls ?? [])}}`;
  }

  async function outcome(name: string): Promise<string> {
    const run = functions.get(name);
    if (!run) return '{"defined":false,"value":null}';
    return `{"defined":true,"value":${resultText(name, await run(context.view), limits.resultSize)}}`;
  }

  async function call(calls: LogicCalls): Promise<string> {
    let outcomes = '';
    let index = 0;
    for (let one = calls[index]; one; index += 1, one = calls[index]) {
      const { name, contained } = one;
      if (index > 0) outcomes += ',';
      let failure: unknown;
      try {
        outcomes += await outcome(name);
      } catch (error) {
        if (!contained) throw error;
        failure = error;
        outcomes += `{"error":${errorText(error)}}`;
      }
      records.ended(failure);
      // Not contained, and before the next function: a refused change is one of the function that fails with it.
      records.flush();
    }
    return `[${outcomes}]`;
  }

  function properties(): string {
    const json = stringify(context.properties());
    if (exceeds(json, limits.resultSize)) throw tooLarge('What was set on context', limits.resultSize);
    return json;
  }

  async function answer(request: PreludeRequest): Promise<string> {
    // Awaited here: returning a promise would read its `then`, which logic may have changed.
    if (request.op === 'open') return await open(request);
    if (request.record !== undefined) context.setRecord(request.record);
    if (request.request !== undefined) context.setRequest(request.request);
    return request.op === 'call' ? await call(request.calls) : properties();
  }

  return async (request) => {
    try {
      const value = await answer(parse(request) as PreludeRequest);
      if (value.length + '{"value":}'.length <= limits.messageSize) return `{"value":${value}${looked.take()}}`;
      throw new NativeRangeError(
        `The results of the functions are together larger than ${limits.messageSize} characters`,
      );
    } catch (error) {
      // Described first: a proxy's traps may run.
      const described = errorText(error);
      return `{"error":${described}${looked.take()}}`;
    }
  };
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
