import type { Items, Json } from '../../../../../shared/json';
import { words } from '../../keys';
import { itemValue, textOf, weight } from '../../rows';
import type { IndexDeclarations, SearchOptions } from '../../types';
import { checkQuery, parseQuery } from '../check';
import type { QueryCondition } from '../operators';
import { compareSame, matches } from '../search';

/** For tests: the expected result of a search, computed naively from the records in order of creation. */
export function expectedSearch(
  records: readonly OracleRecord[],
  declared: IndexDeclarations,
  options: SearchOptions,
): string[] {
  const tree = parseQuery(options.query ?? '');
  const condition: QueryCondition = tree
    ? checkQuery(tree, declared, options.names)
    : { kind: 'constant', value: true };
  const isWanted = ({ creator, items }: OracleRecord) =>
    (options.creator === undefined || creator === options.creator) &&
    (options.block === undefined || items.block === options.block);
  const found = records.filter((record) => isWanted(record) && matches(record, condition));
  const ordered = order(found, declared, condition, options);
  const offset = options.offset ?? 0;
  return ordered.slice(offset, offset + (options.limit ?? ordered.length)).map((record) => record.id);
}

export interface OracleRecord {
  id: string;
  items: Items;
  creator: string | null;
}

function order(
  found: OracleRecord[],
  declared: IndexDeclarations,
  condition: QueryCondition,
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

function positiveWords(condition: QueryCondition, index: string, negated = false): { word: string; prefix: boolean }[] {
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
