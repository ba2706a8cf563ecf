import { type Machine, type PatternWork, patternWork, runMachine, type State } from './pattern-machine';

/**
 * Full matches of an element's `pattern` in linear time. JavaScript's own engine backtracks, so that a pattern such as
 * `(a+)+$` would let one visitor stop the server; here the pattern becomes a state machine that walks over the input once.
 * It takes what such a machine can: characters, classes, `.`, groups, `|`, `* + ? {n,m}`, `^` and `$`. Look-around,
 * `\b` and back references are refused when the definition is read.
 */

/** States of a pattern's machine, at most: bounds its room, and the work for one character of input. */
const MAX_STATES = 2000;
/** UTF-16 units of input, at most. */
export const MAX_PATTERN_INPUT = 4000;
/** Characters of a pattern, at most. */
const MAX_PATTERN = 1000;
/** Unicode properties (`\p{…}`) in a pattern, at most: the engine writes out the characters of each. */
const MAX_PROPERTIES = 20;

const TOO_LARGE = 'it is too large when its repetitions are written out';

type Node =
  | { kind: 'atom'; test: (char: string) => boolean }
  | { kind: 'assert'; at: 'start' | 'end' }
  | { kind: 'all'; parts: Node[] }
  | { kind: 'any'; parts: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number };

/** Whether all of the input matches; false, with nothing left of the work, when that took too many steps to tell. */
export type PatternTest = (input: string, work?: PatternWork) => boolean;

const compiled = new Map<string, PatternTest>();

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
  // Patterns come from theme files, so there are few; the bound only keeps years of edits from adding up.
  if (compiled.size >= 1000) compiled.clear();
  compiled.set(pattern, test);
  return test;
}

function propertiesIn(pattern: string): number {
  return pattern.split(/\\p/i).length - 1;
}

/** Steps of PatternWork that compiling a pattern counts for: as long as they take, about. */
export function compileSteps(pattern: string): number {
  return 100 * pattern.length + 20_000 * propertiesIn(pattern);
}

/** Reads a pattern that JavaScript has accepted already: only its structure is of interest here. */
class PatternParser {
  private at = 0;
  constructor(private readonly source: string) {}

  parse(): Node {
    return this.alternatives();
  }

  private alternatives(): Node {
    const parts = [this.sequence()];
    while (this.take('|')) parts.push(this.sequence());
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'any', parts };
  }

  private sequence(): Node {
    const parts: Node[] = [];
    while (this.at < this.source.length && !/[|)]/.test(this.source[this.at] as string)) parts.push(this.repeated());
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
    const single = new RegExp(`^${text}$`, 'u');
    return { kind: 'atom', test: (char) => single.test(char) };
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
  // Builds backwards: `next` is where the machine goes on after the node.
  const build = (node: Node, next: number): number => {
    // Repetitions of nothing make no states, so the work is counted too.
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
  return { start: build(root, 0), states };
}
