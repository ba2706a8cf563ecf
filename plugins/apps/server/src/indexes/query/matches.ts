import type { Json } from '../../../../shared/json';
import { encodeText } from '../keys/keys';
import { encodeWord, type TextCondition, words } from '../keys/words';
import { type IndexedRecord, itemValue, keywordsOf, textOf } from '../tables/entries';
import type { Condition } from './operators';

type Leaf = Exclude<Condition, { kind: 'and' | 'or' | 'not' | 'constant' }>;
type Tests = { [K in Leaf['kind']]: (item: Json | undefined, condition: Leaf & { kind: K }) => boolean };

/**
 * Whether a record matches a condition, computed from the record alone: the answer of the SQL of every database
 * (docs/reference/search.md), which the property tests of searches compare with it.
 */
export function matches(record: Omit<IndexedRecord, 'seq'>, condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.children.every((child) => matches(record, child));
    case 'or':
      return condition.children.some((child) => matches(record, child));
    case 'not':
      return !matches(record, condition.child);
    case 'constant':
      return condition.value;
    default:
      return tests[condition.kind](itemValue(record, condition.index), condition as never);
  }
}

/** Whether an item matches: a row for each kind of condition. */
const tests: Tests = {
  compare: (item, { comparator, value }) => compares(item, comparator, value),
  oneOf: (item, { values }) => values.some((value) => compares(item, '==', value)),
  keywords(item, { mode, values }) {
    const held = keywordsOf(item);
    const has = (value: Json) => held.some((one) => one === value);
    return mode === 'any' ? values.some(has) : values.every(has);
  },
  text(item, { query }) {
    const list = words(textOf(item));
    return query.some((parts) => parts.every((part) => holds(list, part) !== part.negated));
  },
};

/** The order of two items of one type. */
export function compareSame(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(encodeText(a), encodeText(b));
  return Number(a) - Number(b);
}

function compares(item: Json | undefined, comparator: string, value: Json): boolean {
  if (value === null) {
    const missing = item === undefined || item === null;
    return comparator === '==' ? missing : comparator === '!=' && !missing;
  }
  if (typeof item !== typeof value) return false;
  const difference = compareSame(item, value);
  const results: Record<string, boolean> = {
    '==': difference === 0,
    '!=': difference !== 0,
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
  };
  return results[comparator] as boolean;
}

/** Whether the words of a text contain those of a part of a search text, one after the other. */
function holds(list: readonly string[], { words: wanted, prefix }: TextCondition): boolean {
  const [only] = wanted;
  if (wanted.length === 1 && only !== undefined) {
    // The index cuts long words: those that begin alike are one word.
    const term = encodeWord(only).toString('latin1');
    const termOf = (word: string) => encodeWord(word).toString('latin1');
    return list.some(
      (word) => word === only || (prefix ? termOf(word).startsWith(term) : word.length > 60 && termOf(word) === term),
    );
  }
  return list.some((_, start) =>
    wanted.every((word, at) => {
      const held = list[start + at];
      return held !== undefined && (prefix && at === wanted.length - 1 ? held.startsWith(word) : held === word);
    }),
  );
}
