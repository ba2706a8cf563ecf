import { setImmediate } from 'node:timers/promises';
import type { Items, Json } from '../../../shared/json';
import { slices } from '../common/time/pace';
import { cellOf, csvText, notFormula } from './csv';

/** A record of a table. */
interface Row {
  id: string;
  items: Items;
}

type Batches = Iterable<Row[]> | AsyncIterable<Row[]>;

/** Columns of elements that the definitions of an app declare, and of other items: a cell for each is in every row. */
const MAX_DECLARED = 1_000;
const MAX_OTHERS = 200;

/** The last column of a table that has not a column for each item: the others of a record as a JSON object. No element has such a name. */
export const MORE = '(more)';

export interface TableOptions {
  /** Names of the items that the definitions declare: those that the records have are the first columns, in this order. */
  declared: readonly string[];
  /** The cell of an item; undefined for a missing one. By default the one that an import reads without loss. */
  cell?: (value: Json | undefined) => string;
}

/**
 * Records as a CSV table, in pieces of some milliseconds of work, between which other requests are served. The first line
 * names the columns of the items that the records have: `id`, declared items, at most 200 others in the order of the records, and
 * `MORE` where these are not all (docs/reference/import-export.md#csv). No spreadsheet reads a cell as a formula.
 * @param read reads the records, twice, to keep memory flat: the columns come first
 */
export async function* csvTable(
  read: () => Batches,
  { declared, cell = cellOf }: TableOptions,
): AsyncGenerator<string, void> {
  const { names, hasMore } = await columnsOf(declared, read());
  const columns = [...names];
  const line = (cells: string[]) => csvText(cells.map(notFormula));
  yield line(['id', ...columns, ...(hasMore ? [MORE] : [])]);
  const rowOf = ({ id, items }: Row): string => {
    const cells = [cell(id), ...columns.map((name) => cell(Object.hasOwn(items, name) ? items[name] : undefined))];
    return line(hasMore ? [...cells, moreCell(items, names)] : cells);
  };
  for await (const batch of read()) {
    for await (const rows of slices(batch, rowOf)) yield rows.join('');
    await setImmediate();
  }
}

/** The items that have no column. */
function moreCell(items: Items, names: ReadonlySet<string>): string {
  const others = Object.entries(items).filter(([name]) => !names.has(name));
  const members = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return members.length > 0 ? `{${members.join()}}` : '';
}

/** The columns of the items that the records have. */
async function columnsOf(
  declared: readonly string[],
  batches: Batches,
): Promise<{ names: ReadonlySet<string>; hasMore: boolean }> {
  const wanted = new Set(declared.filter((name) => name !== 'id' && name !== MORE).slice(0, MAX_DECLARED));
  const [found, others] = [new Set<string>(), new Set<string>()];
  let hasMore = false;
  const note = (name: string): void => {
    if (wanted.has(name)) found.add(name);
    else if (others.has(name)) return;
    else if (name !== MORE && others.size < MAX_OTHERS) others.add(name);
    else hasMore = true;
  };
  for await (const batch of batches) {
    for await (const _ of slices(batch, ({ items }) => Object.keys(items).forEach(note)));
    await setImmediate();
  }
  return { names: new Set([...[...wanted].filter((name) => found.has(name)), ...others]), hasMore };
}
