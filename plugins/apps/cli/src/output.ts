import { progressBar, type ShowProgress } from './progress';

/** What a command prints. Results go to standard output; notes, progress and errors to standard error. */
export interface Output {
  /** Whether `--json` was given: standard output then gets one JSON document, and nothing else. */
  readonly json: boolean;
  /** Whether colours are shown: on a terminal, without `NO_COLOR` and `--no-color`. */
  readonly colours: boolean;
  /** A line of the result for people; nothing with `--json`. */
  line(text?: string): void;
  /** A remark on standard error, in both forms. */
  note(text: string): void;
  /** The whole result as JSON; nothing without `--json`. */
  data(value: unknown): void;
  /** A progress bar on standard error. @param total of what is counted; 0 if unknown */
  progress(what: string, total: number): ShowProgress;
  paint(style: Style, text: string): string;
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;

export type Style = keyof typeof styles;

/** Before anything else writes to standard output: a started Strapi's log is sent to standard error (host/strapi.ts). */
const write = process.stdout.write.bind(process.stdout) as (text: string) => boolean;

/** Whether standard output takes colours (https://no-color.org, and `FORCE_COLOR` of Node.js). */
export function takesColours(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0';
  return isTerminal && env.TERM !== 'dumb';
}

export function createOutput({ json = false, color = true }: { json?: boolean; color?: boolean }): Output {
  const colours = !json && color && takesColours(process.env, Boolean(process.stdout.isTTY));
  return {
    json,
    colours,
    line: (text = '') => void (json || write(`${text}\n`)),
    note: (text) => void process.stderr.write(`${text}\n`),
    data: (value) => void (json && write(`${JSON.stringify(value, null, 2)}\n`)),
    progress: (what, total) => progressBar(what, total, process.stderr),
    paint: (style, text) => (colours ? `\u001b[${styles[style]}m${text}\u001b[0m` : text),
  };
}
