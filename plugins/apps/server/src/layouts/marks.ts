import { TokenKind, type TopLevelToken } from 'liquidjs';
import { BraceToken } from './braces';
import type { LayoutLimits } from './limits';

/** Characters of `{name}`: each `.` in it is one more way to read it. */
const MAX_BRACE = 200;

/** What is wrong with the amount of Liquid in a layout, and where. */
export class MarkError extends Error {
  readonly place: { line: number; column: number };

  constructor(message: string, mark: TopLevelToken) {
    super(message);
    const [line, column] = mark.getPosition();
    this.place = { line: line as number, column: column as number };
  }
}

/**
 * Refuses more tags, outputs and elements, or longer ones, than the limits allow: Liquid's parser takes the square of
 * their number in time, and as many operands as there is room for. MarkError at the first that is too many.
 */
export function checkMarks(tokens: readonly TopLevelToken[], limits: LayoutLimits): void {
  let count = 0;
  let markup = 0;
  for (const token of tokens) {
    if (token.kind === TokenKind.HTML) continue;
    const length = token.end - token.begin;
    const longest = token instanceof BraceToken ? MAX_BRACE : limits.markLength;
    count += 1;
    markup += length;
    if (length > longest) throw new MarkError(`This is longer than ${longest} characters`, token);
    if (count > limits.marks)
      throw new MarkError(`A layout has at most ${limits.marks} tags, outputs and elements`, token);
    if (markup > limits.markup)
      throw new MarkError(`A layout's tags, outputs and elements have at most ${limits.markup} characters`, token);
  }
}
