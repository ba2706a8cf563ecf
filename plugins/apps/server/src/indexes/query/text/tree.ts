import type { Scalar } from '../../keys/keys';
import type { OperatorName } from '../operators';

/** A value in the query, or a bare word: the check of the tree decides whether that is an index or a bound name. */
export type Operand =
  | { kind: 'value'; value: Scalar; position: number }
  | { kind: 'word'; name: string; position: number };

/** The parsed text of a query, before it is checked against the declared indexes. */
export type Parsed =
  | { kind: 'and' | 'or'; children: Parsed[] }
  | { kind: 'not'; child: Parsed }
  /** `a < b`, or `a < b <= c`: the check of the tree decides which operand is the index. */
  | { kind: 'comparison'; operands: Operand[]; operators: OperatorName[] }
  /** `value in index`. */
  | { kind: 'membership'; operator: OperatorName; value: Operand; index: Operand }
  /** `index in any (list)`; `named`: the list is the value of the only name in it, or that value alone. */
  | { kind: 'list'; operator: OperatorName; index: Operand; list: Operand[]; named: boolean };
