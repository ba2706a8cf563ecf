import type { About } from '.';

export type { About } from '.';

/** For what a request has waited. */
export type WaitFor = 'sandbox' | 'calls_out' | 'search';

/** How a try of a job has ended. */
export type JobResult = 'done' | 'failed' | 'dead';

/** Receives what happens in the server. Times are milliseconds. */
export interface Observations {
  /** An answer has begun. */
  request(about: About, status: number, time: number): void;
  /** A run of logic has ended. */
  run(about: About, state: string, time: number, hostCalls: number): void;
  /** A request runs once more, because of a collision or a lost runner. */
  retry(about: About): void;
  wait(what: WaitFor, time: number): void;
  /** A rendering was a kept one (`hit`), is kept now (`miss`), or cannot be kept (`none`). */
  rendering(about: About, kind: string, result: 'hit' | 'miss' | 'none'): void;
  job(about: About, kind: string, result: JobResult, time: number): void;
  /** A login was refused: the password was wrong, or too many were. */
  login(result: 'failed' | 'limited'): void;
}

/** A number of the moment, read when metrics are asked for. */
export interface Reading {
  name: string;
  help: string;
  labels?: readonly string[];
  /** Rejects where it cannot be read: the metric is left out then. */
  read(): Promise<readonly (readonly [labels: Record<string, string>, value: number])[]>;
}

/** Metrics of one server process (docs/operate/monitoring.md). */
export interface Metrics extends Observations {
  /** Adds numbers of the moment. */
  add(reading: Reading): void;
  /** The labels of an app, for `Reading`s. */
  labelsOf(about: About): { site: string; app: string };
  /** All metrics in Prometheus's text format, and its media type. */
  text(): Promise<{ type: string; body: string }>;
  destroy(): void;
}
