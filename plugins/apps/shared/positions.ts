/** A position in a theme's file; `file` is relative to the app's folder (or the theme's), lines and columns count from 1. */
export interface SourcePosition {
  file: string;
  line?: number;
  column?: number;
}

/** The same with null for what is not known, as in JSON. */
type Position = { file: string; line?: number | null; column?: number | null };

/**
 * A position as all messages show it: `blocks/rate.yaml:3:5`, without unknown parts; '' without a file.
 * @param folder of the app, with a slash at its end: it is put before the file
 */
export function positionText({ file, line, column }: Position, folder = ''): string {
  if (file === '') return '';
  const counts = line == null ? [] : [line, ...(column == null ? [] : [column])];
  return [folder + file, ...counts].join(':');
}

/** A message after its position: `blocks/rate.yaml:3:5: The key "colour" is not known.` */
export function positioned(message: string, position: Position | undefined, folder = ''): string {
  const at = position ? positionText(position, folder) : '';
  return at === '' ? message : `${at}: ${message}`;
}

/** Characters of a source line that an excerpt shows, at most. */
const MAX_SHOWN = 120;

/** The line of `source` at a position, and a caret below the column if it is known; null if there is no such line. */
export function excerptOf(source: string, { line, column }: Position): string | null {
  const text = line == null ? undefined : lineOf(source, line);
  if (text === undefined || text.trim() === '') return null;
  // Logic can make up the position of an error.
  const at = column != null && column >= 1 && column <= text.length + 1 ? column - 1 : null;
  const start = at === null || at < MAX_SHOWN ? 0 : at - MAX_SHOWN / 2;
  // A tab would move the caret.
  const shown = text.slice(start, start + MAX_SHOWN).replace(/\t/g, ' ');
  const margin = `${line} | `;
  return margin + shown + (at === null ? '' : `\n${' '.repeat(margin.length + at - start)}^`);
}

/** A line of a text, without splitting the whole text. */
export function lineOf(text: string, line: number): string | undefined {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    start = text.indexOf('\n', start) + 1;
    if (start === 0) return undefined;
  }
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? undefined : end).replace(/\r$/, '');
}
