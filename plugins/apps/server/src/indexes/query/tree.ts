import type { Scalar } from '../keys';

export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A value written in the query, or a bare word: an index or a bound name, told apart when the tree is checked. */
export type Operand =
  | { kind: 'value'; value: Scalar; position: number }
  | { kind: 'word'; name: string; position: number };

/** What the text of a query says, before it is known which indexes there are. */
export type Parsed =
  | { kind: 'and' | 'or'; children: Parsed[] }
  | { kind: 'not'; child: Parsed }
  /** `a < b`, or `a < b <= c`. */
  | { kind: 'compare'; operands: Operand[]; comparators: Comparator[]; position: number }
  /** `value in index`. */
  | { kind: 'contains'; value: Operand; index: Operand }
  /** `index in any(list)`. */
  | { kind: 'members'; index: Operand; mode: 'any' | 'all'; list: Operand[]; named: boolean };
