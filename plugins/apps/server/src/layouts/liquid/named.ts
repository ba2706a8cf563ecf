import type { TopLevelToken } from 'liquidjs';
import type { NamedElement } from '../types';
import type { BraceToken } from './braces';
import { candidates } from './elements';
import { readsOf } from './shown';

/**
 * Every place of a layout that names an element, in single braces or as `elements.name` in Liquid, in the order of the file.
 * A number in braces, which is text unless an element has that name, is left out. Takes linear time.
 */
export function namedIn(
  text: string,
  braces: readonly BraceToken[],
  tokens: readonly TopLevelToken[],
): Omit<NamedElement, 'path'>[] {
  const inBraces = braces
    .filter(({ placed, element, keys }) => placed && !(/^\d+$/.test(element) && keys.length === 0))
    .map((brace) => ({ names: candidates(brace), at: brace.begin }));
  const inLiquid = readsOf(tokens).flatMap(({ name, at }) => (name === undefined ? [] : [{ names: [name], at }]));
  let [line, start, end] = [1, 0, text.indexOf('\n')];
  return [...inBraces, ...inLiquid]
    .sort((a, b) => a.at - b.at)
    .map(({ names, at }) => {
      while (end >= 0 && end < at) {
        line += 1;
        start = end + 1;
        end = text.indexOf('\n', start);
      }
      return { names, line, column: at - start + 1 };
    });
}
