import { TokenKind, type TopLevelToken } from 'liquidjs';
import type { LayoutLimits } from '../limits';
import { BraceToken } from './braces';

/** Maximum characters of `{name}`: each `.` in it adds a possible element name. */
export const MAX_BRACE = 200;

/** A limit that a layout's tags, outputs and elements exceed, with its position. */
export class MarkError extends Error {
  readonly position: { line: number; column: number };

  constructor(message: string, mark: TopLevelToken) {
    super(message);
    const [line, column] = mark.getPosition();
    this.position = { line: line as number, column: column as number };
  }
}

/**
 * Throws a MarkError at the first tag, output or element above the limits: Liquid's parser takes quadratic time in their
 * number, and does not bound their operands.
 * @param used marks and their characters so far, which are increased
 */
export function checkMarks(
  tokens: readonly TopLevelToken[],
  limits: LayoutLimits,
  used: { marks: number; markup: number },
): void {
  for (const token of tokens) {
    if (token.kind === TokenKind.HTML) continue;
    const length = token.end - token.begin;
    const maxLength = token instanceof BraceToken ? MAX_BRACE : limits.markLength;
    used.marks += 1;
    used.markup += length;
    if (length > maxLength) throw new MarkError(`This is longer than ${maxLength} characters`, token);
    if (used.marks > limits.marks)
      throw new MarkError(`A layout has at most ${limits.marks} tags, outputs and elements`, token);
    if (used.markup > limits.markup)
      throw new MarkError(`A layout's tags, outputs and elements have at most ${limits.markup} characters`, token);
  }
}
