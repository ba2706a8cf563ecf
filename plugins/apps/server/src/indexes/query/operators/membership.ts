import { marks } from '../../../database';
import { encodeKey, encodeTerm, type Scalar } from '../../keys';
import {
  balanced,
  bodySql,
  columnOf,
  countedSql,
  fieldAccess,
  fragment,
  inSql,
  never,
  termAccess,
  termSql,
} from '../sql';
import { compareSql, longSql } from './compare';
import type { ConditionKind, Meaning, Meanings, Value } from './types';
import { allTexts, anyText } from './words';

/** A field index has one of the values. */
export interface OneOf {
  kind: 'oneOf';
  index: string;
  values: Scalar[];
}

/** A keyword index holds any, or all, of the values. */
export interface Keywords {
  kind: 'keywords';
  index: string;
  mode: 'any' | 'all';
  values: Scalar[];
}

const plain = (values: readonly Value[]): Scalar[] => values.map(({ value }) => value);

const keyword =
  (mode: 'any' | 'all'): Meaning =>
  (index, values) => ({ kind: 'keywords', index, mode, values: plain(values) });

/** The result of an empty list: `any` of no values is false, `all` is true. */
const unlessEmpty =
  (value: boolean, meaning: Meaning): Meaning =>
  (index, values, counts) =>
    values.length === 0 ? { kind: 'constant', value } : meaning(index, values, counts);

export const memberships: Meanings<'in' | 'in any' | 'in all'> = {
  in: {
    on: { keyword: keyword('any'), text: anyText },
    instead: (index) => `use == or "${index} in any(…)"`,
  },
  'in any': {
    on: {
      field: unlessEmpty(false, (index, values) => ({ kind: 'oneOf', index, values: plain(values) })),
      keyword: unlessEmpty(false, keyword('any')),
      text: unlessEmpty(false, anyText),
    },
  },
  'in all': {
    on: {
      field: unlessEmpty(true, (index, values) => ({
        kind: 'and',
        children: plain(values).map((value) => ({ kind: 'compare', index, comparator: '==', value })),
      })),
      keyword: unlessEmpty(true, keyword('all')),
      text: unlessEmpty(true, allTexts),
    },
  },
};

export const oneOf: ConditionKind<OneOf> = {
  sql(target, { index, values }, use) {
    const column = columnOf(target, index, use);
    const keys = values.filter((value) => value !== null).map(encodeKey);
    const short = keys.filter((key) => !key.long).map((key) => key.bytes);
    const long = keys.filter((key) => key.long);
    const parts = long.map((key) => longSql(column, bodySql(target, index), '=', key.bytes, key.long as Buffer));
    if (short.length) parts.push(fragment(`${column} in (${marks(short)})`, ...short));
    if (values.includes(null)) parts.push(compareSql(target, column, index, '==', null));
    return balanced('or', parts);
  },
  access(target, { index, values }) {
    const encoded = values.map(encodeKey);
    const keys = encoded.map(({ bytes }) => bytes);
    // Other values have the key of null, and the keys of long strings are cut.
    const exact = !values.includes(null) && encoded.every(({ long }) => !long);
    return fieldAccess(target, index, exact, keys);
  },
  lookups: ({ values }) => values.length,
};

export const keywords: ConditionKind<Keywords> = {
  sql(target, { index, mode, values }, use) {
    const terms = termsOf(values);
    if (terms.length === 0 || (mode === 'all' && values.includes(null))) return never;
    if (mode === 'any' || terms.length === 1) return termSql(target, index, inSql(terms), use);
    return countedSql(target, index, terms);
  },
  access(target, { index, mode, values }) {
    const terms = termsOf(values).slice(0, mode === 'all' ? 1 : undefined);
    const exact = mode === 'any' || values.length === 1;
    return terms.length ? termAccess(target, index, inSql(terms), terms.length > 1, exact) : undefined;
  },
  lookups: ({ values }) => values.length,
};

/** Null is in no list. */
function termsOf(values: readonly Scalar[]): Buffer[] {
  const terms = values.filter((value) => value !== null).map(encodeTerm);
  return [...new Map(terms.map((term) => [term.toString('latin1'), term])).values()];
}
