import { describe, expect, test } from 'vitest';
import { completionOf, type Known } from '../../../../admin/src/pages/app/records/query';
import { type OperatorSyntax, operators } from '../../../../shared/query/operators';
import type { IndexType } from '../types';
import { checkQuery, parseQuery } from './check';

const types: IndexType[] = ['field', 'text', 'keyword'];

/** What the admin panel offers in the place of the `|`, with one index named by its type. */
function offered(type: IndexType, marked: string): string[] {
  const known: Known = { indexes: [{ name: type, type, state: 'ready' }], columns: [] };
  const { suggestions } = completionOf(known, marked.replace('|', ''), marked.indexOf('|'));
  return suggestions.map(({ label, opens = '' }) => label + opens);
}

const check = (type: IndexType, query: string) => {
  const tree = parseQuery(query);
  if (tree) checkQuery(tree, new Map([[type, type]]));
};

describe('the admin panel completes queries of this language', () => {
  test.each(types)('what is offered after a %s index is right', (type) => {
    for (const operator of offered(type, `${type} |`)) {
      const value = operator.endsWith('(') ? "'a')" : "'a'";
      expect(() => check(type, `${type} ${operator} ${value}`), operator).not.toThrow();
    }
    for (const operator of offered(type, "'a' |")) {
      const isRight = offered(type, `'a' ${operator} |`).includes(type);
      const query = () => check(type, `'a' ${operator} ${type}`);
      if (isRight) expect(query, operator).not.toThrow();
      else expect(query, operator).toThrow();
    }
  });

  test.each(types)('all that may follow a %s index is offered', (type) => {
    const known = Object.entries<OperatorSyntax>(operators).filter(
      ([, { form, on }]) => form !== 'membership' && on.includes(type),
    );
    const found = offered(type, `${type} |`).map((one) => one.replace('(', ''));
    expect(found.filter((one) => !one.startsWith('not '))).toEqual(known.map(([name]) => name));
  });
});
