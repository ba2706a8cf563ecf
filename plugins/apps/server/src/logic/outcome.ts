import type { WireError } from '../../../sandbox/src/prelude/types';
import type { WireProgram } from '../../../sandbox/src/protocol';
import type { Limits } from '../config.types';
import { AppsError, isAppsError } from '../errors';
import { logicError } from './compile';
import { misspeltMember } from './misspelt';
import { readError, readJson } from './wire';

export function brokenError(program: WireProgram): AppsError {
  return logicError('The logic broke its sandbox', { file: entryOf(program) });
}

/** The error of a promise that was rejected and that the logic does not await; `text` came out of the sandbox. */
export function rejectedError(text: string, program: WireProgram): AppsError {
  const error = readError(readJson(text));
  const place = error && locate(error.stack, program);
  // An error of the prelude, which awaits its own promises: logic has changed the built-in Promise.
  if (!error || (!place && error.stack.includes('apps:prelude'))) return brokenError(program);
  return logicError(
    `A promise that nothing awaits was rejected: ${textOf(error)}`,
    place ?? { file: entryOf(program) },
  );
}

const textOf = ({ name, message }: WireError): string => (message === '' ? name : `${name}: ${message}`);

/** Errors that a contained call does not contain: they concern the request as a whole. */
const neverContained = ['ConflictError', 'ServiceUnavailableError', 'LogicTimeoutError'] as const;

export function endsRequest(error: AppsError): boolean {
  return neverContained.some((name) => isAppsError(error, name));
}

export function timeoutError(limits: Limits, place?: LatePlace): AppsError {
  const where = place && placeOf(place);
  return new AppsError('LogicTimeoutError', `The logic of this request ran longer than ${limits.logicTime} ms`, where);
}

/** What is known of the position of logic when its time ran out. */
export interface LatePlace {
  program: WireProgram;
  block: string | null;
  /** Functions that were being run. */
  functions: readonly string[];
  /** The sandbox's stack; '' if unknown. */
  stack: string;
  /** The host call that was under way. */
  hostCall: string | null;
}

/** Functions that are named when any of them may have been running. */
const namedFunctions = 5;

/** The position as a sentence, and as file and line. */
function placeOf({ program, block, functions, stack, hostCall }: LatePlace): { reason: string; position: Position } {
  const found = locate(stack, program);
  const names = functions.filter((name) => stack.includes(` ${name} (`) || stack.includes(`.${name} (`));
  const running = names.length > 0 ? names.slice(-1) : functions.slice(0, namedFunctions);
  const position = found ?? { file: entryOf(program) };
  const parts = [
    block === null ? '' : `the block "${block}"`,
    running.length === 0
      ? 'the top level of the file'
      : `the function ${running.map((name) => `"${name}"`).join(' or ')}`,
    found ? `${found.file}:${found.line}` : `${position.file}, line unknown`,
    hostCall === null ? '' : `in the host call ${hostCall}`,
  ];
  return { reason: `It stood in ${parts.filter((part) => part !== '').join(', ')}`, position };
}

export function memoryError(program: WireProgram, limits: Limits): AppsError {
  return logicError(`The logic used more than ${limits.logicMemory} MB of memory`, { file: entryOf(program) });
}

/** Characters of one message out of the sandbox: an answer with the results of all functions that were run, or host calls. */
export function messageSize({ resultSize }: Limits): number {
  return resultSize * 2;
}

export function sizeError(program: WireProgram, limits: Limits): AppsError {
  const message = `The results of the functions are together larger than ${messageSize(limits)} characters`;
  return logicError(message, { file: entryOf(program) });
}

export function entryOf(program: WireProgram): string {
  return program.modules[0].path;
}

/** Statuses of host errors that tell of a mistake in the logic, not of the request: a bad query, a record that is not there. */
const faultsOfLogic = new Set([400, 404, 422]);

/**
 * The AppsError of something thrown in the sandbox: the host's own error if that is what was thrown, unless the logic
 * is to blame for it.
 */
export function thrownError(error: WireError, program: WireProgram, hostErrors: readonly AppsError[]): AppsError {
  const own = error.host === undefined ? undefined : hostErrors[error.host];
  if (own && !faultsOfLogic.has(own.status)) return own;
  const place = locate(error.stack, program);
  return logicError(textOf(error) + hintOf(error, program, place), place ?? { file: entryOf(program) });
}

/** Errors of what does not exist. */
const missingMember = new Set(['TypeError', 'AttributeError']);

/** What was probably meant, where the line names something of `context` that does not exist. */
function hintOf({ name }: WireError, program: WireProgram, place: Position | null): string {
  if (!place?.line || !missingMember.has(name)) return '';
  const code = program.modules.find(({ path }) => path === place.file)?.code ?? '';
  return misspeltMember(lineAt(code, place.line));
}

/** A line of a text, without taking the whole text apart. */
function lineAt(text: string, line: number): string {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    start = text.indexOf('\n', start) + 1;
    if (start === 0) return '';
  }
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? undefined : end);
}

type Position = { file: string; line?: number };

/**
 * The topmost frame of `stack` that lies in a file of the program. Of Python's frames only those of a file that does not
 * compile have a column.
 */
export function locate(stack: string, program: WireProgram): { file: string; line: number; column?: number } | null {
  for (const frame of stack.split('\n')) {
    if (!frame.startsWith('    at ')) continue;
    const [, place, line, column] = /^ {4}at (.*):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    const file =
      place &&
      program.modules.find(({ path }) => place === path || place.endsWith(`(${path}`) || place.endsWith(` ${path}`));
    const hasColumn = program.language === 'python' && Number(column) > 1;
    if (file) return { file: file.path, line: Number(line), ...(hasColumn ? { column: Number(column) } : {}) };
  }
  return null;
}
