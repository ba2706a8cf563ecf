import type { Statement } from './database';

/** The type of PostgreSQL for a column's values; all other values are text, which a column of any type takes. */
function typeOf(values: readonly unknown[]): string {
  const known = values.find((value) => value !== null);
  if (known instanceof Buffer) return 'bytea';
  if (known instanceof Date) return 'timestamp';
  // Milliseconds are more than an integer takes; a column of integers takes these too.
  return Number.isInteger(known) ? 'bigint' : 'text';
}

/**
 * A select of rows for an insert, with an array for each column: PostgreSQL takes longer to read and plan five hundred tuples of
 * placeholders than to insert them. The text is the same for any number of rows, so that it stays prepared. A column with one
 * value in all rows is that value.
 */
export function arrayRows(rows: readonly (readonly unknown[])[]): Statement {
  const [first = []] = rows;
  const values: unknown[] = [];
  const selected: string[] = [];
  const names: string[] = [];
  const arrays: string[] = [];
  const lists: unknown[] = [];
  for (const at of first.keys()) {
    const column = rows.map((row) => row[at]);
    const type = typeOf(column);
    // The first column is always an array, which has as many values as there are rows.
    if (at > 0 && column.every((value) => value === column[0])) {
      selected.push(`?::${type}`);
      values.push(column[0]);
    } else {
      selected.push(`u.c${at}`);
      names.push(`c${at}`);
      arrays.push(`?::${type}[]`);
      lists.push(column);
    }
  }
  const from = `unnest(${arrays.join(', ')}) as u(${names.join(', ')})`;
  return { sql: `select ${selected.join(', ')} from ${from}`, values: [...values, ...lists] };
}
