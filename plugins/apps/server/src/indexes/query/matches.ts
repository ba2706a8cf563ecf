import type { Json } from '../../../../shared/json';
import { encodeText, encodeWord, isCutWord, type TextCondition, words } from '../keys';
import { type IndexedRecord, itemValue, keywordsOf, textOf } from '../tables/rows';
import type { Condition } from './operators';

type Leaf = Exclude<Condition, { kind: 'and' | 'or' | 'not' | 'constant' }>;
type Tests = { [K in Leaf['kind']]: (item: Json | undefined, condition: Leaf & { kind: K }, text: Texts) => boolean };

/** The words of an item. */
interface Words {
  list: readonly string[];
  set: ReadonlySet<string>;
}

/** The words of the items of one record: a condition may search a text hundreds of times. */
type Texts = (item: Json | undefined) => Words;

/**
 * Whether a record matches a condition, computed from the record alone: the answer of the SQL of every database
 * (docs/reference/search.md), which the property tests of searches compare with it.
 */
export function matches(record: Omit<IndexedRecord, 'seq'>, condition: Condition, texts = textsOfRecord()): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.children.every((child) => matches(record, child, texts));
    case 'or':
      return condition.children.some((child) => matches(record, child, texts));
    case 'not':
      return !matches(record, condition.child, texts);
    case 'constant':
      return condition.value;
    default:
      return tests[condition.kind](itemValue(record, condition.index), condition as never, texts);
  }
}

function textsOfRecord(): Texts {
  const known = new Map<Json | undefined, Words>();
  return (item) => {
    let found = known.get(item);
    if (!found) {
      const list = words(textOf(item));
      found = { list, set: new Set(list) };
      known.set(item, found);
    }
    return found;
  };
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
  text(item, { query }, texts) {
    const text = texts(item);
    return query.some((parts) => parts.every((part) => holds(text, part) !== part.negated));
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
function holds({ list, set }: Words, { words: wanted, prefix }: TextCondition): boolean {
  const [only] = wanted;
  if (wanted.length === 1 && only !== undefined) {
    if (isCutWord(only)) return holdsCut(list, only);
    return prefix ? list.some((word) => word.startsWith(only)) : set.has(only);
  }
  return list.some((_, start) =>
    wanted.every((word, at) => {
      const held = list[start + at];
      return held !== undefined && (prefix && at === wanted.length - 1 ? held.startsWith(word) : held === word);
    }),
  );
}

/** The index cuts long words: those that begin alike are one word. */
function holdsCut(list: readonly string[], wanted: string): boolean {
  const term = encodeWord(wanted);
  // Fewer characters have fewer bytes than the term.
  return list.some((word) => word.length > 60 && encodeWord(word).equals(term));
}
