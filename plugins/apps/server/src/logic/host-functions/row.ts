import { z } from 'zod';
import type { Checked, Shape } from './schema';

/**
 * The rights that a call needs beside correct arguments. apps/ checks them before the handler runs (`host-target.ts`), the
 * last three in functions that the handler calls:
 *
 * - `view`, `create`, `edit`, `delete`: a right to records, needed only in another app (logic may do anything with its own
 *   app's records); all but `view` write, for which a GET request needs its token. `edit` and `delete` concern the record
 *   of the argument `id`.
 * - `manager`: a manager of the app, also of the own app; it writes.
 * - `block`: the block's `view_permission`.
 * - `content`: the requester's rights to the host's content.
 * - `content-change`: the same, in functions that may change content; no GET, HEAD or OPTIONS request can do so.
 */
export type Permission =
  | 'none'
  | 'view'
  | 'create'
  | 'edit'
  | 'delete'
  | 'manager'
  | 'block'
  | 'content'
  | 'content-change';

/** The calling session. */
export interface Caller {
  app: string;
  block: string | null;
  /** Characters of a log entry; longer ones are cut. */
  logEntrySize: number;
  /** The line of the theme's file at the top of a stack of frames. */
  lineOf(stack: string): number | null;
  countLog(): void;
}

/** A type that exists only for the compiler. */
export interface Type<T> {
  readonly type?: T;
}

export function returns<T>(): Type<T> {
  return {};
}

/** One host function: the server, both preludes, the types and the reference follow from this row. */
export interface HostFunction<Args extends Shape = Shape, Given = unknown, Result = unknown> {
  /** One line for the reference and for editors. */
  doc: string;
  /** Text that editors show after it. */
  details?: string;
  /** Its syntax in JavaScript and in Python, for the reference. Python's also declares a forwarding method. */
  written: readonly [javascript: string, python: string];
  /** Declarations of its methods for `shared/context-calls.d.ts`, by interface. */
  types?: Record<string, readonly string[]>;
  /** The same in Python, by the classes of `python/__builtins__.pyi`, without the `...` at the end. */
  python?: Record<string, readonly string[]>;
  /** Arguments by name. */
  args: Args;
  permission: Permission;
  /** False: it reads no record, so that pending changes need not be flushed before it. */
  flushes?: false;
  /**
   * Both preludes generate the method from this row: it passes the arguments on and returns the answer. Other methods are
   * written by hand in `sandbox/src`.
   */
  forwards?: Forwarding;
  /** Makes the handler's argument from the arguments of the call. */
  prepare?(caller: Caller, args: Checked<Args>): Given;
  /** Type of the handler's result. */
  returns: Type<Result>;
}

export interface Forwarding {
  /** The object of the method, which provides the arguments that identify the app or the record. */
  of: 'app' | 'record';
  method: string;
  /** Arguments that JavaScript also accepts by position. */
  positional: readonly string[];
}

/** A row of the table, whose arguments determine the type of its handler. */
export function row<Args extends Shape, Result, Given = Checked<Args>>(
  definition: HostFunction<Args, Given, Result>,
): HostFunction<Args, Given, Result> & { schema: z.ZodType<Checked<Args>> } {
  return { ...definition, schema: z.object(definition.args) as never };
}
