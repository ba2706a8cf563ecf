/** A piece of SQL with the values of its placeholders. */
export interface Fragment {
  sql: string;
  values: unknown[];
}

export const fragment = (sql: string, ...values: unknown[]): Fragment => ({ sql, values });
export function concat(...parts: (Fragment | string)[]): Fragment {
  const fragments = parts.map((part) => (typeof part === 'string' ? fragment(part) : part));
  return { sql: fragments.map((part) => part.sql).join(''), values: fragments.flatMap((part) => part.values) };
}

export function joined(parts: readonly Fragment[], separator: string): Fragment {
  return concat(...parts.flatMap((part, at) => (at ? [separator, part] : [part])));
}

export const never = fragment('1 = 0');
export const always = fragment('1 = 1');

/** Joins as a balanced tree: SQLite accepts expressions up to a depth of 1,000. */
export function balanced(operator: 'and' | 'or', parts: Fragment[]): Fragment {
  if (parts.length === 0) return operator === 'and' ? always : never;
  if (parts.length === 1) return parts[0] as Fragment;
  const middle = parts.length >> 1;
  const [left, right] = [balanced(operator, parts.slice(0, middle)), balanced(operator, parts.slice(middle))];
  return concat('(', left, ` ${operator} `, right, ')');
}
