import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { TemplateFiles } from '../../server/src/app-templates';
import { CannotRun } from './command';

/** Shows how much is done; `last` ends the line. */
type ShowProgress = (done: number, last?: boolean) => void;

type Terminal = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

const WIDTH = 30;

/**
 * A progress bar: one line that is overwritten on a terminal; elsewhere a line for every tenth part.
 * @param total of what is counted; of nothing, the bar is full
 */
export function progressBar(what: string, total: number, to: Terminal): ShowProgress {
  let shown = -1;
  return (done, last = false) => {
    const part = total > 0 ? Math.min(1, done / total) : 1;
    const step = Math.floor(part * (to.isTTY ? 1000 : 10));
    if (step === shown && !(last && to.isTTY)) return;
    shown = step;
    const bar = '#'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '.');
    const line = `${what} [${bar}] ${Math.floor(part * 100)} %`;
    to.write(to.isTTY ? `\r${line}${last ? '\n' : ''}` : `${line}\n`);
  };
}

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

/** Before anything else writes to standard output: a started Strapi's log is sent to standard error (host.ts). */
const write = process.stdout.write.bind(process.stdout) as Write;

type Write = (text: string, done?: () => void) => boolean;

/** Resolves when everything that the command has printed is written. */
export async function allWritten(): Promise<void> {
  const last = (write: Write) => new Promise<void>((done) => write('', done));
  await Promise.all([last(write), last((text, done) => process.stderr.write(text, done))]);
}

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

interface Written {
  made: string[];
  /** Files that existed: they are never overwritten. */
  kept: string[];
}

/** Writes those files that do not exist yet. Throws CannotRun where a file or folder cannot be made. */
export function writeNew(files: TemplateFiles): Written {
  const written: Written = { made: [], kept: [] };
  for (const [file, text] of files) {
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: 'wx' });
      written.made.push(file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new CannotRun(`${file} cannot be written: ${message}`);
      written.kept.push(file);
    }
  }
  return written;
}

/** Lists what was written and what was kept, with paths from `cwd`. */
export function showWritten({ made, kept }: Written, cwd: string, output: Output): void {
  const shown = (file: string) => relative(cwd, file) || file;
  for (const file of made) output.line(`${output.paint('green', 'made')}  ${shown(file)}`);
  for (const file of kept) output.line(`${output.paint('yellow', 'kept')}  ${shown(file)} (exists already)`);
}
