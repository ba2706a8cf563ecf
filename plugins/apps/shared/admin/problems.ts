/** What the machine or the host lacks, so that sites or logic do not work (docs/reference/installation.md#checks-at-the-start). */
export interface SetupProblem {
  message: string;
  /** The command, or the line of a file, that cures it; null when the message says what to do. */
  cure: string | null;
}

/** An error of a definition, of logic or of a layout, as a manager may see it. */
export interface Problem {
  message: string;
  file: string;
  line: number | null;
  column: number | null;
  /** The line of the file, with a caret below the column. */
  excerpt: string | null;
}

export interface BlockFailure extends Problem {
  /** ISO 8601: the last time. */
  at: string;
  times: number;
}
