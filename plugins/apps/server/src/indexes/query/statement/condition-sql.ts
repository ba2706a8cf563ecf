import { kindOf, type PlainCondition } from '../operators';
import { byIndex, phrasesSql, wordsSql } from '../operators/words';
import { balanced, concat, type Fragment } from '../sql/fragment';
import type { QueryTarget, Use } from '../sql/target';

/** The condition on a row `f` of the table of fields; never NULL. */
export function conditionSql(target: QueryTarget, condition: PlainCondition, use: Use): Fragment {
  switch (condition.kind) {
    case 'and':
      return allSql(target, condition.children, use);
    case 'or':
      return anySql(target, condition.children, use);
    case 'not':
      return concat('not (', conditionSql(target, condition.child, use), ')');
    default:
      return kindOf(condition).sql(target, condition, use);
  }
}

/**
 * A conjunction. One read of a text tests all its phrases, and only texts with the words of the first phrase are read.
 */
function allSql(target: QueryTarget, conditions: readonly PlainCondition[], use: Use): Fragment {
  const phrases = conditions.filter((one) => one.kind === 'phrase');
  const firsts = [...byIndex(phrases).values()].flatMap(([first]) => first?.words ?? []);
  const words = [...conditions.filter((one) => one.kind === 'word'), ...firsts];
  return balanced('and', [
    ...wordsSql(target, words, use),
    ...conditions
      .filter((one) => one.kind !== 'word' && one.kind !== 'phrase')
      .map((one) => conditionSql(target, one, use)),
    ...phrasesSql(target, 'and', phrases),
  ]);
}

/** A disjunction. One read of a text tests all its phrases. */
function anySql(target: QueryTarget, conditions: readonly PlainCondition[], use: Use): Fragment {
  const phrases = [...byIndex(conditions.filter((one) => one.kind === 'phrase')).values()];
  return balanced('or', [
    ...conditions.filter((one) => one.kind !== 'phrase').map((one) => conditionSql(target, one, use)),
    ...phrases.flatMap((list) => (list.length === 1 ? allSql(target, list, use) : phrasesSql(target, 'or', list))),
  ]);
}
