/** Python's flags of regular expressions. */
const flags = { ignoreCase: 2, multiline: 8, dotAll: 16, verbose: 64, ascii: 256 };

const flagLetters: Record<string, number> = {
  i: flags.ignoreCase,
  m: flags.multiline,
  s: flags.dotAll,
  x: flags.verbose,
};

const wordClass = '\\p{L}\\p{N}_';
const word = `[${wordClass}]`;
const end = '(?![\\s\\S])';

/** Escapes that mean something else in JavaScript, or nothing; others are kept, or are the character itself. */
const escapes: Record<string, string> = { A: '(?<![\\s\\S])', Z: end, a: '\\x07' };
const wordEscapes: Record<string, string> = {
  w: word,
  W: `[^${wordClass}]`,
  b: `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`,
  B: `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`,
};
const kept = /[dDsSwWbBnrtfvxu0-9^$\\.*+?()[\]{}|/]/;

export interface Translated {
  source: string;
  flags: number;
  groups: number;
  names: Record<string, number>;
}

/** A regular expression of Python as one of JavaScript (flag `u`). SyntaxError for one that cannot be. */
export function translate(pattern: string, given: number): Translated {
  const reader = new Translator(pattern, given);
  const translated = reader.translate();
  new RegExp(translated.source, jsFlags(translated.flags));
  return translated;
}

function jsFlags(set: number): string {
  return `du${set & flags.ignoreCase ? 'i' : ''}${set & flags.multiline ? 'm' : ''}${set & flags.dotAll ? 's' : ''}`;
}

class Translator {
  private at = 0;
  private groups = 0;
  private readonly names: Record<string, number> = {};

  constructor(
    private readonly pattern: string,
    private flags: number,
  ) {
    const [leading, letters] = /^\(\?([aiLmsux]+)\)/.exec(pattern) ?? ['', ''];
    for (const letter of letters) this.flags |= flagLetters[letter] ?? 0;
    this.at = leading.length;
  }

  translate(): Translated {
    let source = '';
    while (this.at < this.pattern.length) source += this.next();
    return { source, flags: this.flags, groups: this.groups, names: this.names };
  }

  private next(): string {
    const letter = this.pattern.charAt(this.at);
    if (letter === '\\') return this.escape(false);
    if (letter === '[') return this.characterClass();
    if (letter === '(') return this.group();
    if (letter === '{') return this.quantifier();
    if (this.flags & flags.verbose && /[\s#]/.test(letter)) return this.blank();
    this.at += 1;
    if (letter === '}' || letter === ']') return `\\${letter}`;
    if (letter === '.' && !(this.flags & flags.dotAll)) return '[^\\n]';
    return letter === '$' && !(this.flags & flags.multiline) ? `(?=\\n?${end})` : letter;
  }

  /** An escape, outside or inside of a character class. */
  private escape(inside: boolean): string {
    const letter = this.pattern[this.at + 1];
    if (letter === undefined) throw new SyntaxError('bad escape (end of pattern)');
    this.at += 2;
    const unicode = !(this.flags & flags.ascii);
    if (inside)
      return letter === 'w' && unicode ? wordClass : letter === '-' || kept.test(letter) ? `\\${letter}` : letter;
    if (unicode && wordEscapes[letter]) return wordEscapes[letter];
    if (escapes[letter]) return escapes[letter];
    if (/[a-zA-Z]/.test(letter) && !kept.test(letter)) throw new SyntaxError(`bad escape \\${letter}`);
    return kept.test(letter) ? `\\${letter}` : letter;
  }

  private characterClass(): string {
    this.at += 1;
    const isNegated = this.pattern[this.at] === '^';
    if (isNegated) this.at += 1;
    let members = '';
    let hasOthers = false;
    for (let first = true; ; first = false) {
      const letter = this.pattern[this.at];
      if (letter === undefined) throw new SyntaxError('unterminated character set');
      if (letter === ']' && !first) break;
      if (letter === '\\' && this.pattern[this.at + 1] === 'W' && !(this.flags & flags.ascii)) {
        hasOthers = true;
        this.at += 2;
      } else if (letter === '\\') members += this.escape(true);
      else {
        members += letter === ']' || letter === '[' ? `\\${letter}` : letter;
        this.at += 1;
      }
    }
    this.at += 1;
    if (!hasOthers) return `[${isNegated ? '^' : ''}${members}]`;
    // A class of JavaScript cannot hold all characters that are not in a word, as `\W` means.
    return isNegated ? `(?:(?![${members}])${word})` : `(?:[${members}]|[^${wordClass}])`;
  }

  private group(): string {
    const rest = this.pattern.slice(this.at);
    const [named, name] = /^\(\?P<(\w+)>/.exec(rest) ?? [];
    const [back, referred] = /^\(\?P=(\w+)\)/.exec(rest) ?? [];
    const [comment] = /^\(\?#[^)]*\)/.exec(rest) ?? [];
    const opening = named ?? back ?? comment ?? /^\(\?(?:[:=!]|<[=!])/.exec(rest)?.[0] ?? '(';
    this.at += opening.length;
    if (opening === '(' && rest[1] === '?') throw new SyntaxError('unknown extension');
    if (comment) return '';
    if (back) return `\\k<${referred}>`;
    if (named || opening === '(') this.groups += 1;
    if (name === undefined) return opening;
    this.names[name] = this.groups;
    return `(?<${name}>`;
  }

  private quantifier(): string {
    const [text, least, rest] = /^\{(\d*)(,\d*)?\}/.exec(this.pattern.slice(this.at)) ?? ['', '', undefined];
    if (text === '' || (least === '' && rest === undefined)) {
      this.at += 1;
      return '\\{';
    }
    this.at += text.length;
    return `{${least || '0'}${rest ?? ''}}`;
  }

  /** White space and comments of a verbose pattern. */
  private blank(): string {
    const line = this.pattern[this.at] === '#' ? this.pattern.indexOf('\n', this.at) : this.at;
    this.at = line < 0 ? this.pattern.length : line + 1;
    return '';
  }
}

export interface Search {
  source: string;
  flags: number;
  text: string;
  /** Code points before the first position where a match may begin. */
  start: number;
  /** 0: all matches. */
  maxMatches: number;
  /** The match begins at `start`, and not later. */
  sticky: boolean;
  /** The match ends where the text ends. */
  whole: boolean;
}

type Span = [start: number, end: number];

/** The matches of a translated expression, each a list of the spans of its groups, in code points. */
export function search({ source, flags: set, text, start, maxMatches, sticky, whole }: Search): Span[][] {
  const expression = new RegExp(whole ? `(?:${source})${end}` : source, `${jsFlags(set)}${sticky ? 'y' : 'g'}`);
  const positions = positionsOf(text);
  expression.lastIndex = positions.unit(start);
  const found: Span[][] = [];
  while (maxMatches === 0 || found.length < maxMatches) {
    const match = expression.exec(text);
    if (!match) break;
    const indices = match.indices as (Span | undefined)[];
    found.push(indices.map((span) => (span ? [positions.point(span[0]), positions.point(span[1])] : [-1, -1])));
    if (match[0] === '') expression.lastIndex += (text.codePointAt(expression.lastIndex) ?? 0) > 0xffff ? 2 : 1;
  }
  return found;
}

/** Positions in a text, counted in JavaScript's units and in code points as Python does. */
function positionsOf(text: string): { unit(point: number): number; point(unit: number): number } {
  if (!/[\ud800-\udbff]/.test(text)) return { unit: (point) => point, point: (unit) => unit };
  const units: number[] = [];
  const points = new Map<number, number>();
  let unit = 0;
  for (const letter of text) {
    points.set(unit, units.push(unit) - 1);
    unit += letter.length;
  }
  points.set(unit, units.push(unit) - 1);
  return { unit: (point) => units[point] ?? unit, point: (at) => points.get(at) ?? 0 };
}
