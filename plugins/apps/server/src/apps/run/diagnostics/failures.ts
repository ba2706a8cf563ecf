import { type AppsError, isAppsError } from '../../../common/errors';
import { PausedError } from '../../../logic';
import type { Block } from '../../types';

/** A failure of a block's logic or layout. */
export interface Failure {
  message: string;
  file: string;
  line: number | null;
  column: number | null;
  /** ISO 8601: the last time. */
  at: string;
  /** How often it occurred while it is remembered. */
  times: number;
}

/** Maximum remembered failures of a block. */
const MAX_FAILURES = 10;
/** Maximum characters of a message. */
const MAX_MESSAGE = 1_000;
/** Milliseconds after which a failure is forgotten. */
const MAX_AGE = 24 * 60 * 60 * 1000;

/** A block object is one revision of its files in one site: another revision starts without failures. */
const remembered = new WeakMap<Block, Failure[]>();

/** Errors that are already remembered: callers catch them again. */
const noted = new WeakSet<object>();

const names = ['LogicError', 'LogicTimeoutError', 'DefinitionError'] as const;

const isOwn = (error: unknown): error is AppsError =>
  names.some((name) => isAppsError(error, name)) && !(error instanceof PausedError);

/** Remembers an error of the block's own logic or layout for those who manage apps; ignores any other error. */
export function noteFailure(block: Block, error: unknown): void {
  if (!isOwn(error) || noted.has(error)) return;
  noted.add(error);
  const { file = block.logic?.path ?? '', line = null, column = null } = error.position ?? {};
  const message = error.message.slice(0, MAX_MESSAGE);
  const failures = remembered.get(block) ?? [];
  const known = failures.find((one) => one.message === message && one.file === file && one.line === line);
  const latest = { message, file, line, column, at: new Date().toISOString(), times: (known?.times ?? 0) + 1 };
  remembered.set(block, [latest, ...failures.filter((one) => one !== known)].slice(0, MAX_FAILURES));
}

/** Failures of the block in the last day, the latest first; in this server process, since its files changed. */
export function failuresOf(block: Block): readonly Failure[] {
  const since = new Date(Date.now() - MAX_AGE).toISOString();
  return (remembered.get(block) ?? []).filter(({ at }) => at > since);
}
