/** Exit codes of every command (docs/reference/command-line.md#exit-codes). */
export const exitCodes = { fine: 0, problems: 1, cannotRun: 2 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command cannot run: wrong usage, nothing to work on, a host that does not start. Ends the program with exit code 2. */
export class CannotRun extends Error {
  /** @param cure a command to run, or a line to change */
  constructor(
    message: string,
    readonly cure?: string,
  ) {
    super(message);
    this.name = 'CannotRun';
  }
}
