export type State =
  | { kind: 'char'; test: (char: string) => boolean; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'start' | 'end'; next: number }
  | { kind: 'match' };

/** A pattern as states; the first one is the match. */
export interface Machine {
  states: readonly State[];
  start: number;
}

/** Steps that are left to the patterns of one submission, or of one definition, together. */
export interface PatternWork {
  left: number;
}

/** Steps from state to state: some tenths of a second. A pattern usually takes a few for each character of input. */
const MAX_STEPS = 2_000_000;

/** The work that the patterns of one request, or of one definition, may do. */
export const patternWork = (): PatternWork => ({ left: MAX_STEPS });

/**
 * Whether all of the input leads to the match, in one walk over it. False once no work is left; `work.left` is then
 * below 0.
 */
export function runMachine({ states, start }: Machine, chars: readonly string[], work: PatternWork): boolean {
  const reached = new Int32Array(states.length).fill(-1);
  let current = follow(states, [start], 0, chars.length, reached, work);
  for (const [position, char] of chars.entries()) {
    const next: number[] = [];
    for (const index of current) {
      const state = states[index] as State;
      if (state.kind === 'char' && state.test(char)) next.push(state.next);
    }
    if (next.length === 0 || work.left < 0) return false;
    current = follow(states, next, position + 1, chars.length, reached, work);
  }
  return work.left >= 0 && current.includes(0);
}

/** All states that can be reached without reading a character; `reached` tells at which position a state was met last. */
function follow(
  states: readonly State[],
  pending: number[],
  position: number,
  length: number,
  reached: Int32Array,
  work: PatternWork,
): number[] {
  const found: number[] = [];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    work.left -= 1;
    if (reached[index] === position) continue;
    reached[index] = position;
    found.push(index);
    const state = states[index] as State;
    if (state.kind === 'split') for (const next of state.next) pending.push(next);
    else if ((state.kind === 'start' && position === 0) || (state.kind === 'end' && position === length)) {
      pending.push(state.next);
    }
  }
  return found;
}
