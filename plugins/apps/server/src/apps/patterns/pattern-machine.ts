export type State =
  | { kind: 'char'; test: (char: string) => boolean; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'start' | 'end'; next: number }
  | { kind: 'match' };

/** A pattern as an automaton; state 0 accepts. */
export interface Machine {
  states: readonly State[];
  start: number;
}

/** Remaining steps of all patterns of one submission or definition. */
export interface PatternWork {
  left: number;
}

/** Steps from state to state: some tenths of a second. A pattern usually takes a few steps for each character. */
const MAX_STEPS = 2_000_000;

/** A new budget for the patterns of one request or definition. */
export const patternWork = (): PatternWork => ({ left: MAX_STEPS });

/**
 * Whether the automaton accepts the whole input, in one pass over it. False when the budget is used up; `work.left` is
 * then below 0.
 */
export function runMachine({ states, start }: Machine, chars: readonly string[], work: PatternWork): boolean {
  const reached = new Int32Array(states.length).fill(-1);
  let current = follow(states, [start], 0, chars.length, reached, work);
  for (const [position, char] of chars.entries()) {
    const next: number[] = [];
    for (const index of current) {
      const state = states[index];
      if (state?.kind === 'char' && state.test(char)) next.push(state.next);
    }
    if (next.length === 0 || work.left < 0) return false;
    current = follow(states, next, position + 1, chars.length, reached, work);
  }
  return work.left >= 0 && current.includes(0);
}

/** All states reachable without reading a character; `reached` holds the last position at which a state was reached. */
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
    const state = states[index];
    if (state?.kind === 'split') for (const next of state.next) pending.push(next);
    else if ((state?.kind === 'start' && position === 0) || (state?.kind === 'end' && position === length)) {
      pending.push(state.next);
    }
  }
  return found;
}
