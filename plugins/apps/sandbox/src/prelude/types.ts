import type { ContextData, LogicCall, RecordData } from '../../../server/src/logic/types';
import type { Items, Json } from '../../../shared/json';

/** What the server asks of the prelude, as JSON text in `open` and `call` messages. */
export type PreludeRequest =
  /** Evaluates the module `entry`, makes the `context` object, and runs functions, if any are asked for. */
  | { op: 'open'; entry: string; context: ContextData; limits: PreludeLimits; calls?: LogicCall[] }
  /** Runs functions; `record`, if given, is from now on `context.record`. */
  | { op: 'call'; calls: LogicCall[]; record?: RecordData | null }
  /** The custom properties of `context`. */
  | { op: 'properties'; record?: RecordData | null };

export interface PreludeLimits {
  /** Bytes of a function's result as JSON. */
  resultSize: number;
  /** Characters of one message to the server. */
  messageSize: number;
  /** Characters of one log message. */
  logEntrySize: number;
}

/** The prelude's answer. `error` instead of a value: the whole operation failed. */
export type PreludeAnswer<Value> = { value: Value } | { error: WireError };

export interface OpenValue {
  /** Names of the functions that the program offers. */
  functions: string[];
  /** Of the calls that came with `open`. */
  outcomes: CallValue;
}

export type CallValue = ({ defined: boolean; value: Json } | { error: WireError })[];

export type PropertiesValue = Items;

/** A thrown value as text, from own data properties only. */
export interface WireError {
  name: string;
  message: string;
  /** Frames of the engine; the server finds the theme's file and line in it. */
  stack: string;
  /** Set when the value thrown is the error of a host call: its number in the session. */
  host?: number;
}

/** Host calls, as JSON text: names and arguments of the table of host functions. */
export type HostCalls = [name: string, args: Items][];

/** The answer: values of the calls that succeeded, in order, and the error of the one that did not. */
export interface HostAnswer {
  values: Json[];
  error?: { name: string; message: string; host: number };
}
