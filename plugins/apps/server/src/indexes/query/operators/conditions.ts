import { compare } from './compare';
import { constant } from './constant';
import { keywords, oneOf } from './membership';
import type { ConditionKind } from './types';
import { phrase, type Text, word, words } from './words';

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
