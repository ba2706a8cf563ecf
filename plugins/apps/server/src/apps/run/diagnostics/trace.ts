import type { Json } from '../../../../../shared/json';
import { excerptOf } from '../../../../../shared/positions';
import { type AppsError, isAppsError } from '../../../common/errors';
import { withoutAddresses, withoutPersons } from '../../../common/log';
import type { LogEntry } from '../../../logic/types';
import { inputOf, type NewRun, type RunState, safeText, shownAddress } from '../../../runs';
import { personNames } from '../../elements';
import type { App, Block } from '../../types';
import { originalOf, refusalOf } from '../observed';
import type { Run, Visit } from '../types';
import { consoleOf, noteFailure, sourceOf } from './failures';

/** What the logic of one attempt does, for those who develop apps; shared by all levels of the run. */
export interface Trace {
  /** `Date.now()`. */
  readonly at: number;
  /** `performance.now()`. */
  readonly begun: number;
  readonly calls: { app: string; block: string; functions: string[] }[];
  readonly logs: LogEntry[];
  /** The first failure of a block, which may be shown as an error mark. */
  failure?: { error: AppsError; app: App };
}

/** Lines of a run's log, characters of a line, functions of a block, and blocks, that are kept. */
const MAX = { lines: 50, line: 1_000, functions: 50, blocks: 20 };

/** The trace of an attempt. @param begun the trace of an attempt of the same request, which it continues */
export const newTrace = (begun?: Trace): Trace => ({
  at: begun?.at ?? Date.now(),
  begun: begun?.begun ?? performance.now(),
  calls: [],
  logs: [],
});

/** Notes that the logic of a block was opened; the returned function notes the functions that it runs. */
export function traceBlock({ trace: { calls }, app }: Run, block: Block): (names: readonly string[]) => void {
  const call = { app: app.id, block: block.id, functions: [] as string[] };
  if (calls.length < MAX.blocks) calls.push(call);
  return (names) => {
    const left = MAX.functions - call.functions.length;
    if (left > 0) call.functions.push(...names.slice(0, left));
  };
}

/** Notes a line of logic's log. */
export function traceLog({ trace: { logs } }: Run, entry: LogEntry): void {
  if (logs.length < MAX.lines) logs.push({ ...entry, message: safeText(entry.message, MAX.line) });
}

/** Remembers the failure of a block's logic or layout, for the block and for its run. */
export function traceFailure(run: Run, block: Block, error: unknown): void {
  noteFailure(block, error, run.services.masks.text);
  if (isAppsError(error) && stateOf(error) === 'failed') run.trace.failure ??= { error, app: run.app };
}

/** Errors that are the app's own, or the server's. */
function stateOf(error: unknown): RunState {
  if (!isAppsError(error)) return 'failed';
  return failures.has(error.name) ? 'failed' : 'refused';
}

const failures: ReadonlySet<string> = new Set([
  'LogicError',
  'DefinitionError',
  'LogicTimeoutError',
  'InternalServerError',
]);

/**
 * Keeps a run that has ended: one whose logic ran, that failed, or that a rule or a job has caused. Costs nothing for others.
 * @param thrown the error that ended it
 */
export function keepRun(run: Run, thrown?: unknown): void {
  const { trace, visit, services } = run;
  const state = thrown === undefined ? (trace.failure ? 'failed' : 'done') : stateOf(thrown);
  const isKept = trace.calls.length > 0 || state === 'failed' || visit.rule !== undefined || visit.job !== undefined;
  if (!isKept) return;
  if (!visit.dry) {
    const { earlierCalls, hostCalls } = run.budget.shared;
    const about = { site: visit.site.id, app: run.app.id };
    services.metrics.run(about, state, performance.now() - trace.begun, earlierCalls + hostCalls);
    if (services.runs.size === 0) return;
  }
  const described = describe(run, state, thrown);
  const kept = services.masks.isOn() ? masked(described, personNames(run.app)) : described;
  if (visit.dry) visit.dry.runs.push({ id: '', ...kept });
  else services.runs.add(kept);
}

function describe(run: Run, state: RunState, thrown: unknown): NewRun {
  const { trace, visit, app, budget } = run;
  const { site } = visit;
  const requester = originalOf(visit.requester);
  const request = originalOf(visit.request);
  const { identity, username } = requester;
  const isOpen = state === 'failed' && app.settings.debug;
  const input = isOpen ? inputOfRun(visit, trace) : null;
  return {
    at: new Date(trace.at).toISOString(),
    site: site.id,
    app: app.id,
    block: trace.calls[0]?.block ?? null,
    state,
    calls: trace.calls,
    method: request.method,
    address: shownAddress(request.url),
    requester: { identity, name: username === null ? null : safeText(username, 200) },
    time: Math.round((performance.now() - trace.begun) * 10) / 10,
    memory: budget.shared.memory,
    hostCalls: budget.shared.earlierCalls + budget.shared.hostCalls,
    error: errorOf(run, thrown),
    cache: cacheOf(run, state),
    rule: visit.rule ?? null,
    job: visit.job ?? null,
    hasInput: input !== null,
    logs: trace.logs.map((entry) => ({ ...entry, level: entry.level ?? 'info' })),
    input,
  };
}

/** The run without e-mail addresses, and without the values of elements with `person`. */
function masked({ address, requester, error, logs, input, ...run }: NewRun, names: ReadonlySet<string>): NewRun {
  const { name } = requester;
  return {
    ...run,
    address: withoutAddresses(address),
    requester: { ...requester, name: name && withoutAddresses(name) },
    error: error && { ...error, message: withoutAddresses(error.message) },
    logs: logs.map((entry) => ({ ...entry, message: withoutAddresses(entry.message) })),
    input: input && (withoutPersons(input as unknown as Json, names) as unknown as NewRun['input']),
  };
}

/** Whether its result may be kept, for a request whose result could be. */
function cacheOf(run: Run, state: RunState): NewRun['cache'] {
  const { inputs } = run.visit;
  if (!inputs) return null;
  if (state !== 'done') return 'failed';
  return inputs.reason ?? refusalOf({ ...run, console: consoleOf(run) }) ?? 'kept';
}

function errorOf({ trace: { failure }, app }: Run, thrown: unknown): NewRun['error'] {
  const error = thrown ?? failure?.error;
  if (error === undefined) return null;
  if (!isAppsError(error)) return { ...nowhere, name: 'InternalServerError', message: 'The log says why', app: app.id };
  const owner = failure?.error === error ? failure.app : app;
  const { file = '', line = null, column = null } = error.position ?? {};
  const source = sourceOf(owner, file);
  return {
    name: error.name,
    message: safeText(error.message, MAX.line),
    app: owner.id,
    file,
    line,
    column,
    excerpt: source === undefined ? null : excerptOf(source, { file, line, column }),
  };
}

const nowhere = { file: '', line: null, column: null, excerpt: null };

function inputOfRun({ request: given, contentPath, params, isCall }: Visit, { calls }: Trace): NewRun['input'] {
  const { method, url, query, form, body, headers } = originalOf(given);
  const [first] = calls;
  if (isCall && !first?.functions[0]) return null;
  const call = isCall && first?.functions[0] ? { block: first.block, name: first.functions[0], params } : null;
  return inputOf({ method, url, query, form, body, headers, contentPath, call });
}
