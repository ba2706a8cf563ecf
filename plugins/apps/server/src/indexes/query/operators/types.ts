import type { OperatorName, operators } from '../../../../../shared/query/operators';
import type { Scalar } from '../../keys';
import type { IndexType } from '../../types';
import type { QueryCounts } from '../limits';
import { always, type Fragment, type IndexAccess, type KeyRange, never, type QueryTarget, type Use } from '../sql';
import { compare } from './compare';
import { keywords, oneOf } from './membership';
import { phrase, type Text, word, words } from './words';

/** A value of a query, and its position for errors about values that the index does not accept. */
export interface Value {
  value: Scalar;
  position: number;
}

/**
 * Makes the condition of an operator on an index of one type. BadRequestError for a value that such an index does not accept.
 * @param values one value, or those of a list
 * @param counts the parts of the query so far
 */
export type Meaning = (index: string, values: readonly Value[], counts: QueryCounts) => Condition;

/** What an operator means (its syntax is in shared/query/operators.ts). */
export interface OperatorMeaning {
  /** Its condition by the type of the index: a row for each type that its syntax accepts. */
  on: Partial<Record<IndexType, Meaning>>;
  /** The proposal of the error for indexes of other types. */
  instead?(index: string): string;
}

/** A row for each of the operators, with a meaning for each type of index that its syntax accepts. */
export type Meanings<Name extends OperatorName = OperatorName> = {
  [N in Name]: OperatorMeaning & { on: Record<(typeof operators)[N]['on'][number], Meaning> };
};

/** A kind of condition on one index: its SQL, and data for the planner of a search. */
export interface ConditionKind<C> {
  /** The condition on a row `f` of the table of fields; never NULL. `target.dialect` has the differences between databases. */
  sql(target: QueryTarget, condition: C, use: Use): Fragment;
  /** The index entries that find and estimate its records; undefined when no index helps. */
  access?(target: QueryTarget, condition: C): IndexAccess | undefined;
  /** Conditions that this one implies: any of them finds its records. */
  implied?(condition: C): readonly PlainCondition[];
  /** The range of a field index that contains all matches; undefined without one. */
  range?(condition: C): KeyRange | undefined;
  /** Index entries that a test of one record reads at most; infinite where it must read a text. */
  lookups(condition: C): number;
}

/** All records, or none. */
interface Constant {
  kind: 'constant';
  value: boolean;
}

export const constant: ConditionKind<Constant> = {
  sql: (_target, { value }) => (value ? always : never),
  lookups: () => 0,
};

/** Kinds of conditions that operators make. */
const asked = { constant, compare, oneOf, keywords };
/** Kinds of conditions to which search texts are lowered. */
const lowered = { word, words, phrase };
const kinds = { ...asked, ...lowered };

type ConditionOf<T> = { [K in keyof T]: T[K] extends ConditionKind<infer C> ? C : never }[keyof T];
type Asked = ConditionOf<typeof asked>;
type Leaf = ConditionOf<typeof kinds>;

/** A condition on declared indexes, with its values. Two-valued: `not` is exactly the complement. */
export type Condition =
  | { kind: 'and' | 'or'; children: Condition[] }
  | { kind: 'not'; child: Condition }
  | Asked
  | Text;

/** Conditions that have SQL: texts are lowered to words and phrases. */
export type PlainCondition =
  | { kind: 'and' | 'or'; children: PlainCondition[] }
  | { kind: 'not'; child: PlainCondition }
  | Leaf;

/** The row of a condition's kind. */
export function kindOf<C extends Leaf>(condition: C): ConditionKind<C> {
  return kinds[condition.kind] as unknown as ConditionKind<C>;
}
