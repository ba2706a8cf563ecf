import { excerptOf, type SourcePosition } from '../../../../shared/positions';
import type { AppsError } from '../../common/errors';

export type Severity = 'error' | 'warning';

/** One thing that is wrong in a theme's files (docs/reference/command-line.md#lint-target). */
export interface LintProblem {
  severity: Severity;
  theme: string;
  /** Null for a theme's own files. */
  app: string | null;
  /** Path from the folder in which the program was started. */
  file: string;
  /** From 1; null where only the file is known. */
  line: number | null;
  column: number | null;
  message: string;
  /** The line, and a caret below the column. */
  excerpt: string | null;
  /** What to do, where it is known. */
  cure: string | null;
}

/** A problem before its file is located: `position.file` is relative to the app's or the theme's folder. */
export interface Finding {
  severity: Severity;
  position: SourcePosition;
  message: string;
  cure?: string | undefined;
}

/** What a theme or an app reports to. */
export type Report = (finding: Finding) => void;

/** The finding of a file that the server refuses. */
export const refused = ({ message, position, reason }: AppsError, fallback: string): Finding => ({
  severity: 'error',
  position: position ?? { file: fallback },
  message,
  cure: reason,
});

/** The app, or the theme without an app, whose files have findings. */
export interface LintedApp {
  theme: string;
  app: string | null;
  /** Put before a finding's file, with a slash at its end. */
  prefix: string;
  /** The text of a file, for the excerpt. */
  source(file: string): string | undefined;
}

export function located(
  { severity, position, message, cure }: Finding,
  { theme, app, prefix, source }: LintedApp,
): LintProblem {
  const { file, line, column } = position;
  const text = source(file);
  return {
    severity,
    theme,
    app,
    file: prefix + file,
    line: line ?? null,
    column: column ?? null,
    message,
    excerpt: text === undefined ? null : excerptOf(text, position),
    cure: cure ?? null,
  };
}

/** By file and position, each once: a module that several blocks import is checked with each of them. */
export function sorted(problems: readonly LintProblem[]): LintProblem[] {
  const known = new Map(problems.map((problem) => [keyOf(problem), problem]));
  return [...known.values()].sort(
    (a, b) => compare(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

const keyOf = ({ file, line, column, message }: LintProblem) => JSON.stringify([file, line, column, message]);

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
