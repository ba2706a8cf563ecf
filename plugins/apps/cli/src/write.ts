import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import type { Files } from '../../server/src/app-templates';
import { CannotRun } from './exit';
import type { Output } from './output';

export interface Written {
  made: string[];
  /** Files that existed: they are never overwritten. */
  kept: string[];
}

/** Writes those files that do not exist yet. Throws CannotRun where a file or folder cannot be made. */
export function writeNew(files: Files): Written {
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
