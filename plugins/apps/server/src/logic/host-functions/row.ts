import type { LogicHost } from '../types';
import type * as is from './schema';

/** What a handler may use: the server's side of this run, and where in the theme's files a stack of frames points. */
export interface HostRun {
  host: LogicHost;
  app: string;
  block: string | null;
  /** Characters of a log entry; what is longer is cut. */
  logEntrySize: number;
  lineOf(stack: string): number | null;
  countLog(): void;
}

/** One thing that logic may ask of the server. */
export interface HostFunction {
  name: string;
  /** One line for the reference. */
  doc: string;
  /** How logic writes it, in JavaScript and in Python. */
  written: readonly [javascript: string, python: string];
  /** Arguments by name. */
  args: Record<string, is.Schema<unknown>>;
  run(run: HostRun, args: Record<string, unknown>): Promise<unknown> | unknown;
}

/** A row of the table, its handler typed by its arguments. */
export function row<Args extends Record<string, is.Schema<unknown>>>(
  name: string,
  doc: string,
  written: HostFunction['written'],
  args: Args,
  run: (run: HostRun, args: is.Checked<Args>) => Promise<unknown> | unknown,
): HostFunction {
  return { name, doc, written, args, run: run as HostFunction['run'] };
}
