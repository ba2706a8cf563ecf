import type { Items, Json } from '../../../../shared/json';
import { itemValue, keywordsOf, textOf, weight } from '../entries';
import { encodeText } from '../keys';
import type { IndexDeclarations, SearchOptions } from '../types';
import { words } from '../words';
import { type Condition, checkQuery } from './check';
import { parseQuery } from './parse';

/** For tests: what a search must give, computed in the plainest way from the records in order of creation. */
export function expectedSearch(
  records: readonly OracleRecord[],
  declared: IndexDeclarations,
  options: SearchOptions,
): string[] {
  const tree = parseQuery(options.query ?? '');
  const condition: Condition = tree ? checkQuery(tree, declared, options.names) : { kind: 'constant', value: true };
  const found = records.filter((record) => matches(record, condition));
  const ordered = order(found, declared, condition, options);
  const offset = options.offset ?? 0;
  return ordered.slice(offset, offset + (options.limit ?? ordered.length)).map((record) => record.id);
}

export interface OracleRecord {
  id: string;
  items: Items;
}

function order(
  found: OracleRecord[],
  declared: IndexDeclarations,
  condition: Condition,
  { sortIndex, reverse = false }: SearchOptions,
): OracleRecord[] {
  const sign = reverse ? -1 : 1;
  const type = sortIndex === 'id' ? 'field' : declared.get(sortIndex ?? '');
  const wanted = type === 'text' ? positiveWords(condition, sortIndex as string) : [];
  if (sortIndex === undefined || (type === 'text' && wanted.length === 0))
    return reverse ? [...found].reverse() : found;
  if (type === 'text') {
    const scores = new Map(found.map((record) => [record, score(record, sortIndex, wanted)]));
    return [...found].sort((a, b) => sign * ((scores.get(b) as number) - (scores.get(a) as number)));
  }
  return [...found].sort((a, b) => {
    const [left, right] = [rankOf(itemValue(a, sortIndex)), rankOf(itemValue(b, sortIndex))];
    if (left === 3 || right === 3) return left - right;
    return sign * (left - right || compareSame(itemValue(a, sortIndex), itemValue(b, sortIndex)));
  });
}

function rankOf(value: Json | undefined): number {
  return ['boolean', 'number', 'string'].indexOf(typeof value) >= 0
    ? ['boolean', 'number', 'string'].indexOf(typeof value)
    : 3;
}

function compareSame(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(encodeText(a), encodeText(b));
  return Number(a) - Number(b);
}

function matches(record: OracleRecord, condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.children.every((child) => matches(record, child));
    case 'or':
      return condition.children.some((child) => matches(record, child));
    case 'not':
      return !matches(record, condition.child);
    case 'constant':
      return condition.value;
    case 'compare':
      return compares(itemValue(record, condition.index), condition.comparator, condition.value);
    case 'oneOf':
      return condition.values.some((value) => compares(itemValue(record, condition.index), '==', value));
    case 'keywords': {
      const held = keywordsOf(itemValue(record, condition.index));
      const has = (value: Json) => held.some((one) => one === value);
      return condition.mode === 'any' ? condition.values.some(has) : condition.values.every(has);
    }
    case 'text':
      return condition.query.some((parts) =>
        parts.every((part) => holds(record, condition.index, part) !== part.negated),
      );
  }
}

function compares(item: Json | undefined, comparator: string, value: Json): boolean {
  if (value === null) {
    const missing = item === undefined || item === null;
    return comparator === '==' ? missing : comparator === '!=' && !missing;
  }
  if (typeof item !== typeof value) return false;
  const difference = compareSame(item, value);
  const tests: Record<string, boolean> = {
    '==': difference === 0,
    '!=': difference !== 0,
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
  };
  return tests[comparator] as boolean;
}

function holds(record: OracleRecord, index: string, part: { words: string[]; prefix: boolean }): boolean {
  const list = words(textOf(itemValue(record, index)));
  return list.some((_, start) =>
    part.words.every((word, at) => {
      const held = list[start + at];
      return (
        held !== undefined && (part.prefix && at === part.words.length - 1 ? held.startsWith(word) : held === word)
      );
    }),
  );
}

function positiveWords(condition: Condition, index: string, negated = false): { word: string; prefix: boolean }[] {
  if ('children' in condition) return condition.children.flatMap((child) => positiveWords(child, index, negated));
  if (condition.kind === 'not') return positiveWords(condition.child, index, !negated);
  if (condition.kind !== 'text' || condition.index !== index) return [];
  const parts = condition.query.flat().filter((part) => part.negated === negated);
  return parts.flatMap((part) =>
    part.words.map((word, at) => ({ word, prefix: part.prefix && at === part.words.length - 1 })),
  );
}

function score(record: OracleRecord, index: string, wanted: { word: string; prefix: boolean }[]): number {
  const list = words(textOf(itemValue(record, index)));
  const relevant = new Set(
    list.filter((word) => wanted.some((one) => (one.prefix ? word.startsWith(one.word) : word === one.word))),
  );
  return [...relevant].reduce((sum, word) => sum + weight(list.filter((one) => one === word).length, list.length), 0);
}
