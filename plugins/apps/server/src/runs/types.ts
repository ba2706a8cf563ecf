import type { RunDetail, RunsPage, RunsQuery } from '../../../shared/admin/runs';

export type {
  DryWrites,
  RunDetail,
  RunInput,
  RunJob,
  RunLogLine,
  RunRule,
  RunState,
  RunsPage,
  RunsQuery,
} from '../../../shared/admin/runs';

/** A run before it is kept: the log gives it an id. */
export type NewRun = Omit<RunDetail, 'id'>;

/** The latest runs of logic, for those who develop apps (docs/decisions/runs.md). */
export interface RunLog {
  /** How many runs it keeps; 0: none, and callers skip the work of describing one. */
  readonly size: number;
  /** Keeps a run; returns at once, and writes nothing on the caller's way. */
  add(run: NewRun): void;
  list(query: RunsQuery): Promise<RunsPage>;
  find(id: string): Promise<RunDetail | null>;
  /** How many of an app's kept runs have failed in the last day, counted to 100. */
  failed(app: { site: string; app: string }): Promise<number>;
  /** The runs that only this process has, in its memory: none where the database has them. */
  inMemory(): readonly RunDetail[];
  /** Forgets a run that is in memory; false where it is not. */
  forget(id: string): boolean;
  /** Writes what is still to be stored. */
  destroy(): Promise<void>;
}
