import { withoutTypes } from '../compile/javascript';
import { parseModule } from '../compile/syntax';
import { usesInJavaScript } from './javascript';
import type { CheckInput, LogicUses } from './members';
import { usesInPython } from './python';

/** The task of the worker processes: checks one file of logic. Empty for one that does not compile, which is reported as such. */
export function checkLogic(input: CheckInput): LogicUses {
  try {
    return input.language === 'python' ? usesInPython(input) : checkModule(input);
  } catch {
    return { mistakes: [], searches: [] };
  }
}

function checkModule(input: CheckInput): LogicUses {
  const { path, text } = input;
  const code = withoutTypes(path, text);
  const { mistakes, searches } = usesInJavaScript(parseModule(path, code), input);
  if (code === text) return { mistakes, searches };
  const place = placeIn(text.split('\n'), code.split('\n'));
  return { mistakes: mistakes.map(place), searches: searches.map(place) };
}

/** Finds a place of the code without types in the text with them: lines are the same, columns are not. */
function placeIn(lines: readonly string[], code: readonly string[]) {
  return <T extends { line: number; column: number }>(found: T): T => {
    const [written = '', stripped = ''] = [lines[found.line - 1], code[found.line - 1]];
    const rest = stripped.slice(found.column - 1);
    const [word = ''] = /^(?:\w+|"[^"]*"|'[^']*'|`[^`]*`|.)/.exec(rest) ?? [];
    const count = occurrences(stripped.slice(0, found.column - 1), word).length;
    const places = occurrences(written, word);
    return { ...found, column: (places[count] ?? places.at(-1) ?? found.column - 1) + 1 };
  };
}

function occurrences(line: string, word: string): number[] {
  const found: number[] = [];
  if (word === '') return found;
  for (let at = line.indexOf(word); at >= 0; at = line.indexOf(word, at + word.length)) found.push(at);
  return found;
}
