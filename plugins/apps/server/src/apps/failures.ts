import { type AppsError, isAppsError } from '../errors';
import { isPaused } from '../logic';
import type { Block } from './types';

/** What went wrong in a block when it was used. */
export interface Failure {
  message: string;
  file: string;
  line: number | null;
  column: number | null;
  /** ISO 8601: the last time. */
  at: string;
  /** How often, since it is remembered. */
  times: number;
}

/** Failures of a block that are remembered, characters of a message, and milliseconds after which one is forgotten. */
const MAX = { failures: 10, message: 1_000, age: 24 * 60 * 60 * 1000 };

/** A block object is one revision of its files in one site: with it its failures are forgotten. */
const kept = new WeakMap<Block, Failure[]>();

/** Errors that were noted where they were thrown, and are caught again further up. */
const noted = new WeakSet<object>();

const names = ['LogicError', 'LogicTimeoutError', 'DefinitionError'] as const;

const isOwn = (error: unknown): error is AppsError =>
  names.some((name) => isAppsError(error, name)) && !isPaused(error);

/** Remembers an error of the block's own logic or layout for those who manage apps; ignores any other error. */
export function noteFailure(block: Block, error: unknown): void {
  if (!isOwn(error) || noted.has(error)) return;
  noted.add(error);
  const { file = block.logic?.path ?? '', line = null, column = null } = error.position ?? {};
  const message = error.message.slice(0, MAX.message);
  const failures = kept.get(block) ?? [];
  const known = failures.find((one) => one.message === message && one.file === file && one.line === line);
  const latest = { message, file, line, column, at: new Date().toISOString(), times: (known?.times ?? 0) + 1 };
  kept.set(block, [latest, ...failures.filter((one) => one !== known)].slice(0, MAX.failures));
}

/** What has gone wrong in the block in the last day, the latest first; in this server process, since its files changed. */
export function failuresOf(block: Block): readonly Failure[] {
  const since = new Date(Date.now() - MAX.age).toISOString();
  return (kept.get(block) ?? []).filter(({ at }) => at > since);
}
