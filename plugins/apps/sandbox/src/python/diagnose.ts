/** The probable error of a Python file, and its position; lines and columns count from 1. */
export interface Diagnosis {
  line: number;
  column: number;
  message: string;
}

/** The lines of a file with strings and comments blanked: only code is left. */
interface Code {
  lines: string[];
  /** Brackets that are open at the beginning of each line, and at the end: such a line continues the one before. */
  depths: number[];
  problem: Diagnosis | null;
}

const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/**
 * Finds what Python expected if MicroPython only reports "invalid syntax". Takes time in proportion to the text.
 * @param line the line that MicroPython reports
 * @returns null where nothing is recognised
 */
export function diagnose(text: string, line: number): Diagnosis | null {
  const code = blanked(text);
  // An open bracket or string is noticed where the file ends, or at a later line that is then invalid.
  return code.problem ?? atLine(code, line) ?? (line > 1 ? atLine(code, line - 1) : null);
}

/** Blanks strings and comments, and finds unterminated strings and unmatched brackets. */
function blanked(text: string): Code {
  const lines: string[] = [];
  const depths = [0];
  const open: { bracket: string; line: number; column: number }[] = [];
  let problem: Diagnosis | null = null;
  let current = '';
  const here = (message: string): Diagnosis => ({ line: lines.length + 1, column: current.length + 1, message });
  for (let at = 0; at < text.length; ) {
    const letter = text.charAt(at);
    if (letter === '\n') {
      lines.push(current);
      current = '';
      depths.push(open.length);
      at += 1;
    } else if (letter === '#') {
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end;
    } else if (letter === '"' || letter === "'") {
      const quote = text.startsWith(letter.repeat(3), at) ? letter.repeat(3) : letter;
      const end = stringEnd(text, at + quote.length, quote);
      if (end < 0) problem ??= here(`the text that begins with ${quote} has no end`);
      const stop = end < 0 ? lineEnd(text, at) : end;
      for (; at < stop; at += 1) {
        if (text[at] !== '\n') current += '_';
        else {
          lines.push(current);
          current = '';
          depths.push(open.length + 1);
        }
      }
    } else {
      if ('([{'.includes(letter)) open.push({ bracket: letter, line: lines.length + 1, column: current.length + 1 });
      const opening = pairs[letter];
      if (opening) {
        const last = open.pop();
        if (!last) problem ??= here(`"${letter}" closes no bracket`);
        else if (last.bracket !== opening)
          problem ??= here(`"${letter}" does not close the "${last.bracket}" of line ${last.line}`);
      }
      current += letter;
      at += 1;
    }
  }
  lines.push(current);
  depths.push(open.length);
  const [first] = open;
  if (first)
    problem ??= { line: first.line, column: first.column, message: `the bracket "${first.bracket}" is never closed` };
  return { lines, depths, problem };
}

function stringEnd(text: string, start: number, quote: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text.startsWith(quote, at)) return at + quote.length;
    else if (text[at] === '\n' && quote.length === 1) return -1;
  }
  return -1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

const block = /^\s*(?:async\s+)?(if|elif|else|for|while|def|class|try|except|finally|with)\b/;

/** Code that Python does not know, such as other languages' or Python 2's, with what to write instead. */
const slips: [pattern: RegExp, message: string][] = [
  [/\belse\s+if\b/, '"else if" is written "elif"'],
  [/^\s*print\s+[^\s(=.]/, 'print is a function: write print(…)'],
  [/&&/, '"&&" is written "and"'],
  [/\|\|/, '"||" is written "or"'],
  [/(?:^|[\s(])!(?!=)/, '"!" is written "not"'],
  [/\+\+|--\s*$/, '"++" and "--" do not exist: write "+= 1" or "-= 1"'],
  [/===|!==/, '"===" is written "==", and "!==" is written "!="'],
  [/^\s*(?:const|let|var|function)\s+\w/, 'this is JavaScript: a Python file has no const, let, var or function'],
  [/^\s*(?:if|for|while)\b.*\{\s*$/, 'a block begins with ":" and its lines are indented: Python has no { } around it'],
  [/^\s*except\s+[\w.]+\s*,/, 'write "except Error as error"'],
  [/^\s*raise\s+\w+\s*,/, 'write "raise Error(message)"'],
  [/^\s*match\s+[^=].*:\s*$/, 'the statement "match" does not exist here: write if and elif'],
  [/<>/, '"<>" is written "!="'],
];

function atLine({ lines, depths }: Code, line: number): Diagnosis | null {
  const text = lines[line - 1];
  if (text === undefined || text.trim() === '') return null;
  const column = (text.match(/^\s*/)?.[0].length ?? 0) + 1;
  for (const [pattern, message] of slips) {
    const at = text.search(pattern);
    if (at >= 0) return { line, column: Math.max(column, at + 1), message };
  }
  if (depths[line] !== 0) return null;
  return statementProblem(text, line) ?? (depths[line - 1] === 0 ? indentProblem(lines, line, column) : null);
}

/** A statement that begins a block: its colon, and `=` in its condition. */
function statementProblem(text: string, line: number): Diagnosis | null {
  const [, word] = block.exec(text) ?? [];
  if (word === undefined || text.trimEnd().endsWith('\\')) return null;
  const colon = text.lastIndexOf(':');
  const end = text.trimEnd().length;
  if (colon < 0) return { line, column: end + 1, message: `":" is missing at the end of "${word}"` };
  const single = text.slice(0, colon).search(/[^=!<>:+\-*/%&|^]=(?!=)/);
  if (single >= 0 && /^(?:if|elif|while)$/.test(word)) {
    return { line, column: single + 2, message: '"=" gives a value; to compare, write "=="' };
  }
  return null;
}

/** A line whose indentation is wrong. */
function indentProblem(lines: readonly string[], line: number, column: number): Diagnosis | null {
  const indent = (text: string) => text.match(/^[ \t]*/)?.[0] ?? '';
  const own = indent(lines[line - 1] ?? '');
  const before = lines.slice(0, line - 1).findLast((text) => text.trim() !== '');
  if (before === undefined) return own === '' ? null : { line, column, message: 'the first line must not be indented' };
  const above = indent(before);
  if (!own.startsWith(above) && !above.startsWith(own))
    return { line, column: 1, message: 'tabs and spaces are mixed in the indentation' };
  const begins = before.trimEnd().endsWith(':');
  if (begins && own.length <= above.length)
    return { line, column, message: 'an indented line is expected after the ":" of the line before' };
  if (!begins && own.length > above.length && block.exec(before) === null)
    return { line, column, message: 'this line is indented deeper than the one before, which begins no block' };
  return null;
}
