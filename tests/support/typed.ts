/**
 * Pages of the documentation as a reader follows them: the files that they name are written, their `sh` blocks typed, and the
 * block below each is what it must print. A name in backquotes and a colon, alone in a line above a block, is a file;
 * `…` in a printed block stands for anything.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { repository } from './theme';

/** The address of the documentation, in place of a test's host. */
export const documented = 'http://localhost:1337';

/** The text of a page, by its path from the root of the repository. */
export const textOf = (file: string): Promise<string> => readFile(path.join(repository, file), 'utf8');

/** One fenced block: a file to write, or commands with what they print. */
export interface Step {
  file?: string;
  /** The commands; of a file, those that write it. */
  commands: string;
  /** What the commands must print. */
  printed: string;
  /** The block itself. */
  text: string;
}

/** The steps of a text, in its order. */
export function stepsOf(text: string): Step[] {
  const found: Step[] = [];
  for (const [, file, language, body = ''] of text.matchAll(/(?:^`([^`\n]+)`:\n\n)?^```(\w*)\n(.*?)^```$/gms)) {
    if (file) {
      const commands = `mkdir -p ${path.dirname(file)}; cat > ${file} <<'END'\n${body}END`;
      found.push({ file, commands, printed: '', text: body });
    } else if (language === 'sh') found.push({ commands: body.trimEnd(), printed: '', text: body });
    else if (found.at(-1) && !found.at(-1)?.file) (found.at(-1) as Step).printed ||= body.trimEnd();
  }
  return found;
}

/** A pattern of a printed text, in which `…` matches anything. */
export function patternOf(printed: string): RegExp {
  const parts = printed.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

const mark = '<<end of step>>';
/** The lines of an output, without empty ones and without the spaces around them. */
const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join('\n');

export interface Typing {
  /** The folder in which the commands run. */
  folder: string;
  /** What the reader types when a command asks. */
  input?: string;
  env?: Record<string, string>;
}

/** Runs all steps in one bash, as a reader types them; returns their outputs in order. */
export function typed(
  host: { url: string },
  all: readonly Step[],
  { folder, input = '', env }: Typing,
): Promise<string[]> {
  // Answers end without a line break, so that every command's is put on a line of its own.
  const lineByLine = (commands: string) => (commands.includes('<<') ? commands : commands.replaceAll('\n', '\necho\n'));
  const script = all.map(({ commands }) => `${lineByLine(commands)}\necho '${mark}'`).join('\n');
  const bash = spawn('bash', ['--noprofile', '--norc', '-c', script.replaceAll(documented, host.url)], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  // Commands that ask nothing leave the input unread.
  bash.stdin.on('error', () => undefined);
  bash.stdin.end(input);
  let out = '';
  bash.stdout.on('data', (text) => {
    out += text;
  });
  return new Promise((resolve, reject) => {
    bash.on('error', reject);
    bash.on('close', () => resolve(out.replaceAll(host.url, documented).split(mark).map(linesOf)));
  });
}
