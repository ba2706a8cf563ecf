import { LRUCache } from 'lru-cache';

/** A state of a pattern's automaton while it is built. */
type State =
  | { kind: 'char'; test: (char: string) => boolean; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'start' | 'end'; next: number }
  | { kind: 'match' };

/**
 * A pattern as an automaton; state 0 accepts. Its numbers lie side by side in typed arrays, because a form may take millions of
 * steps.
 */
interface Machine {
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
export const MAX_STEPS = 2_000_000;

/** Characters whose tests are remembered: those of ASCII. */
const TABLE = 128;

const [MATCH, CHAR, SPLIT, START, END] = [0, 1, 2, 3, 4];
const kindOf = { match: MATCH, char: CHAR, split: SPLIT, start: START, end: END };

/** A new budget for the patterns of one request or definition. */
export const patternWork = (): PatternWork => ({ left: MAX_STEPS });

/** The automaton of states; equal tests, as those of a repetition that is written out, are one. */
function machineOf(states: readonly State[], start: number): Machine {
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
function runMachine(machine: Machine, chars: readonly string[], work: PatternWork): boolean {
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

/**
 * Full matches of an element's `pattern` in linear time. JavaScript's own engine backtracks, so that a pattern such as
 * `(a+)+$` would let one visitor stop the server; here the pattern becomes a state machine that reads the input once.
 * Supported are characters, classes, `.`, groups, `|`, `* + ? {n,m}`, `^` and `$`. Look-around,
 * `\b` and back references are refused when the definition is read.
 */

/** Maximum states of a pattern's machine: bounds its memory, and the steps for one character of input. */
export const MAX_STATES = 2000;
/** Maximum UTF-16 units of input. */
export const MAX_PATTERN_INPUT = 4000;
/** Maximum characters of a pattern. */
export const MAX_PATTERN = 1000;
/** Maximum Unicode properties (`\p{…}`) in a pattern: the engine expands each to its characters. */
export const MAX_PROPERTIES = 20;

const TOO_LARGE = 'it is too large when its repetitions are written out';

type Node =
  | { kind: 'atom'; test: (char: string) => boolean }
  | { kind: 'assert'; at: 'start' | 'end' }
  | { kind: 'all'; parts: Node[] }
  | { kind: 'any'; parts: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number };

/** Whether the whole input matches; false, with `work.left` below 0, when that takes too many steps. */
export type PatternTest = (input: string, work?: PatternWork) => boolean;

/** Patterns come from theme files; the bound is for those of replaced revisions. */
const compiled = new LRUCache<string, PatternTest>({ max: 1_000 });

/** A test for full matches; throws an Error with a readable reason for an invalid or unsupported pattern. */
export function compilePattern(pattern: string): PatternTest {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN) throw new Error(`it is longer than ${MAX_PATTERN} characters`);
  if (propertiesIn(pattern) > MAX_PROPERTIES) throw new Error(`it has more than ${MAX_PROPERTIES} times \\p{…}`);
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    throw new Error(String((error as Error).message).replace(/^Invalid regular expression: /, ''));
  }
  const machine = assemble(new PatternParser(pattern).parse());
  const test: PatternTest = (input, work = patternWork()) =>
    input.length <= MAX_PATTERN_INPUT && runMachine(machine, [...input], work);
  compiled.set(pattern, test);
  return test;
}

function propertiesIn(pattern: string): number {
  return pattern.split(/\\p/i).length - 1;
}

/** The cost of compiling a pattern in steps of about the same time. */
export function compileSteps(pattern: string): number {
  return 100 * pattern.length + 20_000 * propertiesIn(pattern);
}

/** Parses the structure of a pattern that JavaScript has already accepted. */
class PatternParser {
  private at = 0;
  private readonly tests = new Map<string, (char: string) => boolean>();
  constructor(private readonly source: string) {}

  parse(): Node {
    return this.alternatives();
  }

  private alternatives(): Node {
    const parts = [this.sequence()];
    while (this.take('|')) parts.push(this.sequence());
    const [first, ...others] = parts;
    return first && others.length === 0 ? first : { kind: 'any', parts };
  }

  private sequence(): Node {
    const parts: Node[] = [];
    while (this.at < this.source.length && !/[|)]/.test(this.source.charAt(this.at))) parts.push(this.repeated());
    return { kind: 'all', parts };
  }

  private repeated(): Node {
    const node = this.atom();
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.source.slice(this.at));
    if (!found) return node;
    this.at += found[0].length;
    const [, sign, low, comma, high] = found;
    if (sign)
      return { kind: 'repeat', node, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const min = Number(low);
    return { kind: 'repeat', node, min, max: comma ? (high ? Number(high) : Number.POSITIVE_INFINITY) : min };
  }

  private atom(): Node {
    if (this.take('^')) return { kind: 'assert', at: 'start' };
    if (this.take('$')) return { kind: 'assert', at: 'end' };
    if (this.take('(')) return this.group();
    const [text] =
      /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\x..|\\c.|\\[\s\S]|[\s\S])/u.exec(
        this.source.slice(this.at),
      ) as RegExpExecArray;
    if (/^\\[bBk1-9]/.test(text)) throw new Error(`${text.slice(0, 2)} is not supported`);
    this.at += text.length;
    return { kind: 'atom', test: this.test(text) };
  }

  /** Equal atoms have one test, and its answers are remembered once. */
  private test(atom: string): (char: string) => boolean {
    const known = this.tests.get(atom);
    if (known) return known;
    const single = new RegExp(`^${atom}$`, 'u');
    const test = (char: string) => single.test(char);
    this.tests.set(atom, test);
    return test;
  }

  private group(): Node {
    const opening = /^\?(?::|<(?![=!])[^>]*>)/.exec(this.source.slice(this.at));
    if (opening) this.at += opening[0].length;
    else if (this.source[this.at] === '?') throw new Error('look-ahead and look-behind are not supported');
    const node = this.alternatives();
    this.take(')');
    return node;
  }

  private take(char: string): boolean {
    if (this.source[this.at] !== char) return false;
    this.at += 1;
    return true;
  }
}

function assemble(root: Node): Machine {
  const states: State[] = [{ kind: 'match' }];
  const add = (state: State): number => {
    if (states.length >= MAX_STATES) throw new Error(TOO_LARGE);
    return states.push(state) - 1;
  };
  let work = 0;
  // Builds backwards: `next` is the state after the node.
  const build = (node: Node, next: number): number => {
    // Repetitions of an empty group make no states, so that the calls are counted too.
    work += 1;
    if (work > 10 * MAX_STATES) throw new Error(TOO_LARGE);
    switch (node.kind) {
      case 'atom':
        return add({ kind: 'char', test: node.test, next });
      case 'assert':
        return add({ kind: node.at, next });
      case 'all':
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case 'any':
        return add({ kind: 'split', next: node.parts.map((part) => build(part, next)) });
      case 'repeat':
        return repeat(node, next);
    }
  };
  const repeat = ({ node, min, max }: Extract<Node, { kind: 'repeat' }>, next: number): number => {
    let entry = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop: State & { kind: 'split' } = { kind: 'split', next: [next] };
      entry = add(loop);
      loop.next.push(build(node, entry));
    } else {
      for (let count = min; count < max; count += 1) entry = add({ kind: 'split', next: [next, build(node, entry)] });
    }
    for (let count = 0; count < min; count += 1) entry = build(node, entry);
    return entry;
  };
  const start = build(root, 0);
  return machineOf(states, start);
}
