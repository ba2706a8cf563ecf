import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { excerptOf, positionText } from '../../shared/positions';
import type { LogicLine } from '../../shared/test-events';

/** Lines that the server has logged since the current test began. */
const lines: { level: string; message: string }[] = [];

/** Lines that are kept of one test. */
const MAX_LINES = 200;

/** The part of winston's logger that is used. */
interface Log {
  transports: { silent?: boolean }[];
  on(event: 'data', read: (line: { level: string; message: unknown }) => void): unknown;
}

/** Takes over the log of a Strapi: nothing is printed; what a failed test shows is kept. */
export function collectLog(log: Log): void {
  for (const transport of log.transports) transport.silent = true;
  log.on('data', ({ level, message }) => {
    const text = stripVTControlCharacters(String(message));
    if (stripVTControlCharacters(level) !== 'http' && lines.length < MAX_LINES)
      lines.push({ level: stripVTControlCharacters(level), message: text });
  });
}

export function forgetLog(): void {
  lines.length = 0;
}

/** The logged lines of the current test. */
export const loggedLines = (): string[] => lines.map(({ message }) => message);

/** The position that begins the explanation of an error (docs/errors.md#messages). */
const POSITION = /(?:^|[\s(])((?:[\w@.-]+\/)+[\w@.-]+\.(?:js|ts|py|html|liquid|ya?ml)):(\d+)(?::(\d+))?: /;

/**
 * The errors that the server has logged, with the line of the theme's file that each is about.
 * @param folders those of the themes, which a path such as `apps/rating/blocks/rate.js` is relative to
 */
export function loggedErrors(folders: readonly string[]): LogicLine[] {
  return lines
    .filter(({ level }) => level === 'error' || level === 'warn')
    .map(({ message }) => {
      const [, file, line, column] = POSITION.exec(message) ?? [];
      const path = file && folders.map((folder) => join(folder, file)).find(existsSync);
      const position = { file: file ?? '', line: Number(line), ...(column && { column: Number(column) }) };
      const at = file === undefined ? null : positionText(position);
      return { message, at, excerpt: path ? excerptOf(readFileSync(path, 'utf8'), position) : null };
    });
}

/** An answer of status 500 or more. */
export class AppFailure extends Error {
  override readonly name = 'AppFailure';
  readonly reasons: readonly string[];

  constructor(
    request: string,
    readonly status: number,
  ) {
    const errors = lines.filter(({ level }) => level === 'error').map(({ message }) => message);
    const reasons = errors.map((message) => message.replace(`[apps] ${request}: `, ''));
    super([`${request} failed with status ${status}`, ...reasons.slice(-1)].join(': '));
    this.reasons = reasons;
  }
}
