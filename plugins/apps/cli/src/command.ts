import type { Host } from './host';
import type { Output } from './output';

/** A command as `--help` shows it. Its work is in another file, loaded when the command runs. */
export interface Command {
  /** Name and arguments in commander's notation: `lint [target]`. */
  usage: string;
  summary: string;
  /** What an argument means, by its name. */
  arguments?: Record<string, string>;
  /** Flags in commander's notation, a sentence, and the values or the default where there are some. */
  options?: readonly CommandOption[];
  /** Lines after the options in `--help`. */
  examples?: readonly string[];
  /** Commands below this one: `new app`. */
  commands?: readonly Command[];
  load?(): Promise<{ run: RunCommand }>;
}

export interface CommandOption {
  flags: string;
  summary: string;
  choices?: readonly string[];
  default?: string;
}

/** What a command was called with. */
export interface Invocation {
  /** By the names in `usage`; undefined where an argument was left out. */
  args: Readonly<Record<string, string | undefined>>;
  /** By the option's name in camel case: `--with-theme` is `withTheme`. */
  options: Readonly<Record<string, string | boolean | undefined>>;
  output: Output;
  /** The folder in which the program was started: relative paths of arguments begin there. */
  cwd: string;
  /** The host's folder and themes, found at the first call. */
  host(): Host;
}

export type RunCommand = (invocation: Invocation) => Promise<ExitCode>;

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
