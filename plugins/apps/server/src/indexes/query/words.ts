import { grouped } from '../../common/collections';
import { parseTextQuery, type TextCondition, type TextQuery } from '../keys';
import { type Counted, type QueryCounts, queryError } from './limits';
import type { ConditionKind, Meaning, QueryCondition, Value } from './operators';
import {
  balanced,
  concat,
  countedSql,
  type Fragment,
  fragment,
  inSql,
  numberOf,
  type QueryTarget,
  rangeSql,
  termAccess,
  termSql,
  type Use,
  type WordRange,
} from './sql';

/** A text index matches a search text. It is lowered to words and phrases before SQL is made. */
export interface Text {
  kind: 'text';
  index: string;
  query: TextQuery;
}

export interface Word {
  kind: 'word';
  index: string;
  range: WordRange;
}

/** Consecutive words: found by the words, tested on the text. */
interface Phrase {
  kind: 'phrase';
  index: string;
  words: Word[];
  text: Buffer;
}

/** A text index holds any of the words. */
interface Words {
  kind: 'words';
  index: string;
  terms: Buffer[];
}

/** Any of the search texts. */
export const anyText: Meaning = (index, values, counts) => texts('or', index, values, counts);
/** All of the search texts. */
export const allTexts: Meaning = (index, values, counts) => texts('and', index, values, counts);

function texts(kind: 'and' | 'or', index: string, values: readonly Value[], counts: QueryCounts): QueryCondition {
  const children = values.map((value) => textOf(index, value, counts));
  return children.length === 1 ? (children[0] as QueryCondition) : { kind, children };
}

function textOf(index: string, { value, position }: Value, counts: QueryCounts): Text {
  if (typeof value !== 'string' && typeof value !== 'number')
    throw queryError(position, `${index} is a text index: words are strings`);
  const text = String(value);
  // Before the text is parsed: folding may turn one character into 18.
  counts.add('characters', text.length, position);
  const query = parseTextQuery(text);
  const parts = query.flat();
  const number = (test: (part: TextCondition) => boolean) => parts.filter(test).length;
  const sizes: [Counted, number][] = [
    ['conditions', 1],
    ['words', parts.reduce((sum, part) => sum + part.words.length, 0)],
    ['alternatives', query.length - 1],
    ['phrases', number((part) => part.words.length > 1)],
    ['prefixes', number((part) => part.prefix)],
    ['exclusions', number((part) => part.negated)],
  ];
  for (const [what, size] of sizes) counts.add(what, size, position);
  return { kind: 'text', index, query };
}

export const word: ConditionKind<Word> = {
  sql: (target, { index, range }, use) => termSql(target, index, rangeSql(range), use),
  access: (target, { index, range }) => termAccess(target, index, rangeSql(range, target.dialect.anyKey), range.prefix),
  lookups: () => 1,
};

export const words: ConditionKind<Words> = {
  sql: (target, { index, terms }, use) => termSql(target, index, inSql(terms), use),
  access: (target, { index, terms }) => termAccess(target, index, inSql(terms), true),
  lookups: ({ terms }) => terms.length,
};

export const phrase: ConditionKind<Phrase> = {
  sql: (target, condition, use) =>
    balanced('and', [...wordsSql(target, condition.words, use), ...phrasesSql(target, 'and', [condition])]),
  implied: (condition) => condition.words,
  lookups: () => Number.POSITIVE_INFINITY,
};

/** Words of one text that are looked up separately, until one is missing. */
const MAX_SINGLE_WORDS = 3;

/** Conditions for all words: the words of one text after the first `MAX_SINGLE_WORDS` are counted together. */
export function wordsSql(target: QueryTarget, list: readonly Word[], use: Use): Fragment[] {
  return [...byIndex(list)].flatMap(([index, ofIndex]) => {
    const whole = ofIndex.filter(({ range }) => !range.prefix);
    const counted = whole.slice(MAX_SINGLE_WORDS);
    const single = ofIndex.filter((one) => counted.length < 2 || !counted.includes(one));
    const parts = single.map((one) => word.sql(target, one, use));
    return counted.length < 2 ? parts : [...parts, countedSql(target, index, termsOf(counted))];
  });
}

function termsOf(list: readonly Word[]): Buffer[] {
  return [...new Map(list.map(({ range }) => [range.term.toString('latin1'), range.term])).values()];
}

/** Conditions for all, or any, phrases: one read of a text tests all its phrases. */
export function phrasesSql(target: QueryTarget, operator: 'and' | 'or', list: readonly Phrase[]): Fragment[] {
  return [...byIndex(list)].map(([index, phrases]) => {
    const from = `${target.tables.bodies} b where b.record = f.record and b.ix = ${numberOf(target, index)}`;
    const found = phrases.map(({ text }) => fragment(target.dialect.contains('b.body', '?'), text));
    const text = concat(`exists (select 1 from ${from} and `, balanced(operator, found), ')');
    return { ...text, sql: target.dialect.unindexed(text.sql) };
  });
}

/** Conditions by their index. */
export const byIndex = <T extends { index: string }>(conditions: readonly T[]): Map<string, T[]> =>
  grouped(conditions, ({ index }) => index);
