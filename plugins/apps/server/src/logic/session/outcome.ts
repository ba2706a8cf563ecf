import { type Items, isItems } from '../../../../shared/json';
import type { CallValue, HostCalls, OpenValue, WireError, WireProgram } from '../../../../shared/logic-protocol';
import { everything, isLookedName, maxLooked } from '../../../../shared/looked';
import { lineOf } from '../../../../shared/positions';
import { AppsError, isAppsError, logicError, type SourcePosition } from '../../common/errors';
import { didYouMean } from '../../common/text';
import type { Limits } from '../../config.types';
import { methodsOf } from '../host-functions/table';

/**
 * Readers of messages from a sandbox. The prelude builds them, but beside code that may change every built-in: so
 * everything is checked. Undefined: the value is invalid.
 */
export type MessageReader<Value> = (value: unknown) => Value | undefined;

export function readJson(text: string): unknown {
  if (isDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Depth of nested brackets: JSON.stringify cannot write deeper values on every Node.js. */
const MAX_DEPTH = 1000;

/** Whether brackets outside of strings are nested too deeply. */
export function isDeep(text: string): boolean {
  if (!hasManyBrackets(text)) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0x22) inString = !inString;
    else if (inString) {
      if (unit === 0x5c) index += 1;
    } else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
  }
  return false;
}

/** Whether there are enough brackets for such a depth. Much faster than a loop over all characters. */
function hasManyBrackets(text: string): boolean {
  let found = 0;
  for (const bracket of ['[', '{'])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      found += 1;
      if (found > MAX_DEPTH) return true;
    }
  return false;
}

/** An answer's value or its error, and the names of what logic has looked at. */
export function readAnswer<Value>(
  text: string,
  read: MessageReader<Value>,
): (({ value: Value } | { error: WireError }) & { looked: string[] }) | undefined {
  const answer = readJson(text);
  if (!isItems(answer)) return undefined;
  const looked = readLooked(answer.looked);
  if (!looked) return undefined;
  const error = readError(answer.error);
  if (error) return { error, looked };
  const value = read(answer.value);
  return value === undefined ? undefined : { value, looked };
}

/** Names of one answer; none where the answer has none. */
function readLooked(value: unknown): string[] | undefined {
  if (value === undefined) return [];
  // One more: `everything`.
  const fits = Array.isArray(value) && value.length <= maxLooked.names + 1;
  return fits && value.every((name) => typeof name === 'string' && isLookedName(name))
    ? (value as string[])
    : undefined;
}

/** The program's functions, and the outcomes of the `count` calls that came with `open`. */
export function readOpen(count: number): MessageReader<OpenValue> {
  return (value) => {
    if (!isItems(value)) return undefined;
    const { functions } = value;
    const outcomes = readCalls(count)(value.outcomes);
    if (!outcomes || !Array.isArray(functions) || !functions.every((name) => typeof name === 'string'))
      return undefined;
    return { functions: functions as string[], outcomes };
  };
}

/** The outcomes of `count` calls. */
export function readCalls(count: number): MessageReader<CallValue> {
  return (value) => {
    if (!Array.isArray(value) || value.length !== count) return undefined;
    const outcomes = value.map((outcome) => {
      if (!isItems(outcome)) return undefined;
      const error = readError(outcome.error);
      if (error) return { error };
      return outcome.value === undefined ? undefined : { defined: outcome.defined === true, value: outcome.value };
    });
    return outcomes.some((outcome) => outcome === undefined) ? undefined : (outcomes as CallValue);
  };
}

export const readProperties: MessageReader<Items> = (value) => (isItems(value) ? value : undefined);

export const readHostCalls: MessageReader<HostCalls> = (value) => {
  const fits = (call: unknown) => Array.isArray(call) && typeof call[0] === 'string' && isItems(call[1]);
  return Array.isArray(value) && value.length > 0 && value.every(fits) ? (value as HostCalls) : undefined;
};

function readError(value: unknown): WireError | undefined {
  if (!isItems(value)) return undefined;
  const { name, message, stack, host } = value;
  if (typeof name !== 'string' || typeof message !== 'string' || typeof stack !== 'string') return undefined;
  return typeof host === 'number' ? { name, message, stack, host } : { name, message, stack };
}

const words = (text: string) => text.split(' ');

const url = 'id url absolute_url';

/** Members of the objects of `context` beside the host functions, by the usual names of these objects. */
const ownMembers: Record<string, { type: string; names: string[] }> = {
  context: {
    type: 'Context',
    names: words('app block record request parent_request portal now content api params modules escape'),
  },
  app: { type: 'App', names: words(`${url} settings blocks indexes acl messages add_message get_block`) },
  record: { type: 'AppRecord', names: words(`${url} uid get items set_block`) },
  acl: {
    type: 'Acl',
    names: words('current_user current_user_groups has_access_right has_role roles is_manager'),
  },
  request: { type: 'Request', names: words('method url URL path query form body headers get has response') },
  response: { type: 'Response', names: words('status') },
  portal: { type: 'Portal', names: words(`${url} title theme locale time_zone day_begin get`) },
  content: { type: 'Content', names: words(`${url} type documentId title path absolute_url_path get`) },
  api: { type: 'Api', names: words('user content') },
};

/** Members of the objects of `context`, by the usual names of these objects. */
export const members: Record<string, string[]> = Object.fromEntries(
  Object.entries(ownMembers).map(([object, { type, names }]) => [object, [...names, ...methodsOf(type)]]),
);

/** Characters of a line that are searched. */
const MAX_LINE = 1_000;

const member = new RegExp(`\\b(${Object.keys(members).join('|')})\\.(?=([A-Za-z_]\\w{0,60}))`, 'g');

/**
 * `, did you mean "get_record"?` for a line of logic that has failed: the first unknown member of an object of `context`
 * that is similar to a known one. Only a guess, because another part of the line may have failed.
 */
export function misspeltMember(line: string): string {
  for (const [, object = '', name = ''] of line.slice(0, MAX_LINE).matchAll(member)) {
    const known = members[object] ?? [];
    const hint = known.includes(name) ? '' : didYouMean(name, known);
    if (hint !== '') return hint.replace('"', `"${object}.`);
  }
  return '';
}

export function brokenError(program: WireProgram): AppsError {
  return logicError('The logic broke its sandbox', { file: entryOf(program) });
}

/** The error of a rejected promise that the logic does not await; `text` comes from the sandbox. */
export function rejectedError(text: string, program: WireProgram): AppsError {
  const error = readError(readJson(text));
  const position = error && topFrame(error.stack, program);
  // An error of the prelude, which awaits its own promises: logic has changed the built-in Promise.
  if (!error || (!position && error.stack.includes('apps:prelude'))) return brokenError(program);
  return logicError(
    `A promise that nothing awaits was rejected: ${textOf(error)}`,
    position ?? { file: entryOf(program) },
  );
}

const textOf = ({ name, message }: WireError): string => (message === '' ? name : `${name}: ${message}`);

const neverContained = [
  'ConflictError',
  'ServiceUnavailableError',
  'OutcomeUnknownError',
  'LogicTimeoutError',
] as const;

/** Whether even a contained call passes the error on, because it concerns the whole request. */
export function endsRequest(error: AppsError): boolean {
  return neverContained.some((name) => isAppsError(error, name));
}

export function timeoutError(limits: Limits, state?: TimeoutState): AppsError {
  const where = state && describeState(state);
  return new AppsError('LogicTimeoutError', `The logic of this request ran longer than ${limits.logicTime} ms`, where);
}

/** State of logic when its time ran out. */
export interface TimeoutState {
  program: WireProgram;
  block: string | null;
  /** The called functions. */
  functions: readonly string[];
  /** The sandbox's stack; '' if unknown. */
  stack: string;
  /** The running host call. */
  hostCall: string | null;
}

/** Functions that the message names when any of them may have been running. */
const MAX_NAMED_FUNCTIONS = 5;

/** A sentence about the running code, and its position. */
function describeState({ program, block, functions, stack, hostCall }: TimeoutState): {
  reason: string;
  position: SourcePosition;
} {
  const found = topFrame(stack, program);
  const names = functions.filter((name) => stack.includes(` ${name} (`) || stack.includes(`.${name} (`));
  const running = names.length > 0 ? names.slice(-1) : functions.slice(0, MAX_NAMED_FUNCTIONS);
  const position = found ?? { file: entryOf(program) };
  const parts = [
    block === null ? '' : `the block "${block}"`,
    running.length === 0
      ? 'the top level of the file'
      : `the function ${running.map((name) => `"${name}"`).join(' or ')}`,
    found ? '' : 'line unknown',
    hostCall === null ? '' : `in the host call ${hostCall}`,
  ];
  return { reason: `It stood in ${parts.filter((part) => part !== '').join(', ')}`, position };
}

export function memoryError(program: WireProgram, limits: Limits): AppsError {
  return logicError(`The logic used more than ${limits.logicMemory} MB of memory`, { file: entryOf(program) });
}

/** Characters of one message from the sandbox: an answer with the results of all called functions, or host calls. */
export function messageSize({ resultSize }: Limits): number {
  return resultSize * 2;
}

export function sizeError(program: WireProgram, limits: Limits): AppsError {
  const message = `The results of the functions are together larger than ${messageSize(limits)} characters`;
  return logicError(message, { file: entryOf(program) });
}

export function entryOf(program: WireProgram): string {
  return program.modules[0]?.path ?? '';
}

/** Statuses of host errors that the logic has caused, not the request: a bad query, a missing record. */
const faultsOfLogic = new Set([400, 404, 422]);

export const isFaultOfLogic = ({ isOfLogic, status }: AppsError): boolean => isOfLogic || faultsOfLogic.has(status);

/**
 * The AppsError for an error thrown in the sandbox: the host's own error if that was thrown, unless the logic has caused
 * it.
 */
export function thrownError(error: WireError, program: WireProgram, hostErrors: readonly AppsError[]): AppsError {
  const own = error.host === undefined ? undefined : hostErrors[error.host];
  if (own && !isFaultOfLogic(own)) return own;
  const position = topFrame(error.stack, program);
  return logicError(textOf(error) + hintOf(error, program, position), position ?? { file: entryOf(program) });
}

/** Errors about members that do not exist. */
const missingMember = new Set(['TypeError', 'AttributeError']);

/** The member of `context` that was probably meant, when the line uses one that does not exist. */
function hintOf({ name }: WireError, program: WireProgram, position: SourcePosition | null): string {
  if (!position?.line || !missingMember.has(name)) return '';
  const code = program.modules.find(({ path }) => path === position.file)?.code ?? '';
  return misspeltMember(lineOf(code, position.line) ?? '');
}

/**
 * The topmost frame of `stack` in a file of the program. In Python only frames of syntax errors have a column.
 */
export function topFrame(stack: string, program: WireProgram): { file: string; line: number; column?: number } | null {
  for (const frame of stack.split('\n')) {
    if (!frame.startsWith('    at ')) continue;
    const [, source, line, column] = /^ {4}at (.*):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    const file =
      source &&
      program.modules.find(({ path }) => source === path || source.endsWith(`(${path}`) || source.endsWith(` ${path}`));
    const hasColumn = program.language === 'python' && Number(column) > 1;
    if (file) return { file: file.path, line: Number(line), ...(hasColumn ? { column: Number(column) } : {}) };
  }
  return null;
}

/** The inputs that the logic of a session has looked at, as far as the session has answered (`LogicSession.looked`). */
export class LookedInputs {
  private readonly names = new Set<string>();

  get all(): ReadonlySet<string> {
    return this.names;
  }

  /** Adds the names of an answer. Over the limits of a session, or with `everything`, only `everything` is left. */
  add(names: readonly string[]): void {
    for (const name of names) this.names.add(name);
    if (this.names.size > maxLooked.names || this.names.has(everything)) this.addEverything();
  }

  /** What an answer says that did not come, or cannot be read, is unknown. */
  addEverything(): void {
    this.names.clear();
    this.names.add(everything);
  }
}
