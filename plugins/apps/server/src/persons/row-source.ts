import type { ErasureEffect, PersonKind } from '../../../shared/admin-api';
import type { Items, Json } from '../../../shared/json';
import type { Row } from '../database';
import { aboutPerson, nameOf } from './record-source';
import { type TableStatements, timeOf } from './scan';
import type { Person, PersonSource, Stored } from './types';

/** A table of the plugin whose rows may be about persons. */
export interface PersonTable {
  kind: PersonKind;
  table: string;
  /** The column that names a row for people; null: its number. */
  name: string | null;
  /** When a row was stored. */
  at: string | null;
  /** Columns with texts that may have an address; those that hold JSON are read as such. */
  texts: readonly { column: string; isJson?: boolean }[];
  /** Columns that name an account by its identity, and by the user's name. */
  identities: readonly string[];
  names?: readonly string[];
  /** What becomes of a row in place of its deletion; null: it is deleted. */
  keeps?(row: Row, person: Person): { does: ErasureEffect; set: Record<string, unknown> } | null;
}

/** Rows of a table that have the address in a text, or the account in a column. */
export function rowSource(tables: TableStatements, given: PersonTable): PersonSource {
  const { kind, table, name, at, texts, identities, names = [], keeps = () => null } = given;
  const condition = (person: Person) =>
    aboutPerson(
      person,
      texts.map(({ column }) => column),
      identities,
      names,
    );
  const storedOf = (person: Person, row: Row): Stored => ({
    kind,
    site: textOf(row.site),
    app: textOf(row.app),
    id: String(name === null ? row.id : row[name]),
    at: at === null ? null : timeOf(row[at]),
    row: Number(row.id),
    does: keeps(row, person)?.does ?? 'delete',
    items: [],
    labels: {},
    files: [],
    contents: [],
    data: dataOf(given, row),
  });

  return {
    async *find(person) {
      for await (const rows of tables.scan(table, condition(person))) {
        const found = rows.filter((row) => isAbout(given, person, row)).map((row) => storedOf(person, row));
        if (found.length > 0) yield found;
      }
    },
    erase: (person, { row: id }) =>
      tables.write(async (sql) => {
        const [row] = await sql.rows(`select * from ${table} where id = ?`, [id]);
        if (!row || !isAbout(given, person, row)) return false;
        const kept = keeps(row, person);
        if (!kept) return (await sql.change(`delete from ${table} where id = ?`, [id])) > 0;
        const columns = Object.keys(kept.set);
        const set = columns.map((column) => `${column} = ?`).join(', ');
        return (await sql.change(`update ${table} set ${set} where id = ?`, [...Object.values(kept.set), id])) > 0;
      }),
  };
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

function isAbout({ texts, identities, names = [] }: PersonTable, { search, user }: Person, row: Row): boolean {
  if (user && identities.some((column) => row[column] === user.identity)) return true;
  if (user && names.some((column) => row[column] === nameOf(user))) return true;
  return search !== null && texts.some((text) => search.isInValue(readColumn(text, row)));
}

/** The value of a column; a text that is no JSON, such as one that was cut, is a text. */
function readColumn({ column, isJson = false }: { column: string; isJson?: boolean }, row: Row): Json {
  const text = textOf(row[column]);
  if (!isJson || text === null) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function dataOf({ texts, identities }: PersonTable, row: Row): Items {
  const columns = [...texts, ...identities.map((column) => ({ column }))];
  const values = columns.map((text): [string, Json] => [text.column, readColumn(text, row)]);
  return Object.fromEntries(values.filter(([, value]) => value !== null && value !== ''));
}
