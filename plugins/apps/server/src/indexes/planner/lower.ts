import type { TextQuery } from '../keys';
import { encodeKey, encodeWord, phraseText } from '../keys';
import type { PlainCondition, QueryCondition } from '../query/operators';
import type { WordRange } from '../query/sql';
import { byIndex, type Word } from '../query/words';

/** Lowers a condition to one that has SQL: texts become words and phrases, and conditions that can be tested together are merged. */
export function lower(condition: QueryCondition): PlainCondition {
  if ('children' in condition) return together(condition.kind, condition.children.map(lower));
  if (condition.kind === 'not') return { kind: 'not', child: lower(condition.child) };
  if (condition.kind !== 'text') return condition;
  const alternatives = condition.query.map((parts) =>
    together(
      'and',
      parts.map((part) => partOf(condition.index, part)),
    ),
  );
  return together('or', alternatives);
}

function partOf(index: string, part: TextQuery[number][number]): PlainCondition {
  const words = rangesOf(part).map((range): Word => ({ kind: 'word', index, range }));
  const [word] = words;
  const text = phraseText(part.words);
  const found: PlainCondition =
    words.length === 1 && word
      ? word
      : { kind: 'phrase', index, words, text: Buffer.from(part.prefix ? text.trimEnd() : text, 'utf8') };
  return part.negated ? { kind: 'not', child: found } : found;
}

/** `and` or `or` of conditions, without redundant levels, with each word once and at most one negation. */
function together(kind: 'and' | 'or', conditions: PlainCondition[]): PlainCondition {
  const flat = conditions.flatMap((one) => (one.kind === kind ? one.children : [one]));
  if (kind === 'and' && isContradiction(flat)) return { kind: 'constant', value: false };
  const negated = flat.flatMap((one) => (one.kind === 'not' ? [one.child] : []));
  const children = flat.filter((one) => one.kind !== 'word' && (one.kind !== 'not' || negated.length === 1));
  if (negated.length > 1) children.push({ kind: 'not', child: together(kind === 'and' ? 'or' : 'and', negated) });
  children.unshift(
    ...wordsTogether(
      kind,
      flat.filter((one) => one.kind === 'word'),
    ),
  );
  const [first, ...others] = children;
  return first && others.length === 0 ? first : { kind, children };
}

/** Whether an index must equal two different values: a list of a thousand values would be a thousand conditions. */
function isContradiction(conditions: readonly PlainCondition[]): boolean {
  const equals = conditions.filter((one) => one.kind === 'compare' && one.comparator === '==');
  return [...byIndex(equals as (PlainCondition & { kind: 'compare' })[]).values()].some((same) => {
    const keys = same.map(({ value }) => encodeKey(value));
    const [first] = keys;
    return keys.some(({ bytes, long }) => !first?.bytes.equals(bytes) || !isSame(first.long, long));
  });
}

const isSame = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other);

function wordsTogether(kind: 'and' | 'or', words: Word[]): PlainCondition[] {
  const once = new Map(words.map((word) => [`${word.index} ${rangeName(word.range)}`, word]));
  const all = [...once.values()];
  if (kind === 'and') return all;
  return [...byIndex(all)].flatMap(([index, same]): PlainCondition[] => {
    const whole = same.filter(({ range }) => !range.prefix);
    if (whole.length < 2) return same;
    const terms = whole.map(({ range }) => range.term);
    return [{ kind: 'words', index, terms }, ...same.filter(({ range }) => range.prefix)];
  });
}

const rangeName = ({ prefix, term }: WordRange): string => `${prefix} ${term.toString('latin1')}`;

function rangesOf(part: TextQuery[number][number]): WordRange[] {
  return part.words.map((word, at) => ({
    term: encodeWord(word),
    prefix: part.prefix && at === part.words.length - 1,
  }));
}

/** The words of a text index that make a record relevant: all wanted ones, without the excluded ones. */
export function relevantWords(condition: QueryCondition, index: string): WordRange[] {
  const found = new Map<string, WordRange>();
  collect(condition, index, false, found);
  return [...found.values()];
}

function collect(condition: QueryCondition, index: string, negated: boolean, found: Map<string, WordRange>): void {
  if ('children' in condition) {
    for (const child of condition.children) collect(child, index, negated, found);
  } else if (condition.kind === 'not') collect(condition.child, index, !negated, found);
  else if (condition.kind === 'text' && condition.index === index) {
    const parts = condition.query.flat().filter((part) => part.negated === negated);
    for (const range of parts.flatMap(rangesOf)) found.set(rangeName(range), range);
  }
}

/** Drops ranges that another one contains, so that no word is in two of them. */
export function disjoint(ranges: readonly WordRange[]): WordRange[] {
  const contains = (one: WordRange, other: WordRange) =>
    one !== other && one.prefix && other.term.subarray(0, one.term.length).equals(one.term);
  return ranges.filter((range) => !ranges.some((other) => contains(other, range)));
}
