import { always, never } from '../sql/fragment';
import type { ConditionKind } from './types';

/** All records, or none. */
export interface Constant {
  kind: 'constant';
  value: boolean;
}

export const constant: ConditionKind<Constant> = {
  sql: (_target, { value }) => (value ? always : never),
  lookups: () => 0,
};
