/** A state of a pattern's automaton while it is built. */
export type State =
  | { kind: 'char'; test: (char: string) => boolean; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'start' | 'end'; next: number }
  | { kind: 'match' };

/**
 * A pattern as an automaton; state 0 accepts. Its numbers lie side by side in typed arrays, because a form may take millions of
 * steps.
 */
export interface Machine {
  start: number;
  /** Of each state. */
  kinds: Uint8Array;
  /** Of each state that reads a character, its test. */
  testOf: Int32Array;
  /** The next states of each state: `targets` from `first[state]` to before `first[state + 1]`. */
  first: Int32Array;
  targets: Int32Array;
  tests: readonly ((char: string) => boolean)[];
  /** What each test has said of each character below `TABLE`: 0 not yet, 1 no, 2 yes. */
  known: Uint8Array;
}

/** Remaining steps of all patterns of one submission or definition. */
export interface PatternWork {
  left: number;
}

/** Steps from state to state: some hundredths of a second. A pattern usually takes a few steps for each character. */
const MAX_STEPS = 2_000_000;

/** Characters whose tests are remembered: those of ASCII. */
const TABLE = 128;

const [MATCH, CHAR, SPLIT, START, END] = [0, 1, 2, 3, 4];
const kindOf = { match: MATCH, char: CHAR, split: SPLIT, start: START, end: END };

/** A new budget for the patterns of one request or definition. */
export const patternWork = (): PatternWork => ({ left: MAX_STEPS });

/** The automaton of states; equal tests, as those of a repetition that is written out, are one. */
export function machineOf(states: readonly State[], start: number): Machine {
  const tests = [...new Set(states.flatMap((state) => (state.kind === 'char' ? [state.test] : [])))];
  const numbers = new Map(tests.map((test, at) => [test, at]));
  const first: number[] = [];
  const targets: number[] = [];
  for (const state of states) {
    first.push(targets.length);
    if (state.kind !== 'match') targets.push(...[state.next].flat());
  }
  return {
    start,
    kinds: Uint8Array.from(states, ({ kind }) => kindOf[kind]),
    testOf: Int32Array.from(states, (state) => (state.kind === 'char' ? (numbers.get(state.test) ?? 0) : 0)),
    first: Int32Array.from([...first, targets.length]),
    targets: Int32Array.from(targets),
    tests,
    known: new Uint8Array(tests.length * TABLE),
  };
}

/**
 * Whether the automaton accepts the whole input, in one pass over it. False when the budget is used up; `work.left` is
 * then below 0.
 */
export function runMachine(machine: Machine, chars: readonly string[], work: PatternWork): boolean {
  const { kinds, first, targets, testOf, tests } = machine;
  /** What tests have said of the character that is read, where it has no table. */
  const ofChar = new Uint8Array(tests.length);
  /** The last position at which each state was reached. */
  const reached = new Int32Array(kinds.length).fill(-1);
  const reading = new Int32Array(kinds.length);
  // Each state is followed once a position, and comes from one that has read, or from one that was followed.
  const pending = new Int32Array(kinds.length + targets.length + 1);
  pending[0] = machine.start;
  for (let [position, top] = [0, 1]; top > 0 && work.left >= 0; position += 1) {
    const count = follow(machine, { pending, top, reached, reading }, position, position === chars.length, work);
    if (position === chars.length) return work.left >= 0 && reached[0] === position;
    top = 0;
    const char = chars[position] as string;
    if (char !== chars[position - 1]) ofChar.fill(0);
    for (let at = 0; at < count; at += 1) {
      const state = reading[at] as number;
      if (matches(machine, testOf[state] as number, char, ofChar))
        pending[top++] = targets[first[state] as number] as number;
    }
  }
  return false;
}

function matches({ tests, known }: Machine, test: number, char: string, ofChar: Uint8Array): boolean {
  const code = char.charCodeAt(0);
  const [answers, at] = code < TABLE ? [known, test * TABLE + code] : [ofChar, test];
  if (answers[at] === 0) answers[at] = tests[test]?.(char) === true ? 2 : 1;
  return answers[at] === 2;
}

/** What `follow` works on: states to be followed, the first `top` of them, and those that read a character. */
interface Followed {
  pending: Int32Array;
  top: number;
  reached: Int32Array;
  reading: Int32Array;
}

/** Follows states without reading a character; returns how many of all that it reaches read one. */
function follow(
  { kinds, first, targets }: Machine,
  { pending, top, reached, reading }: Followed,
  position: number,
  isEnd: boolean,
  work: PatternWork,
): number {
  let [left, steps, count] = [top, 0, 0];
  while (left > 0) {
    const state = pending[--left] as number;
    steps += 1;
    if (reached[state] === position) continue;
    reached[state] = position;
    const kind = kinds[state];
    if (kind === CHAR) reading[count++] = state;
    else if (kind === SPLIT || (kind === START && position === 0) || (kind === END && isEnd)) {
      const end = first[state + 1] as number;
      for (let at = first[state] as number; at < end; at += 1) pending[left++] = targets[at] as number;
    }
  }
  work.left -= steps;
  return count;
}
