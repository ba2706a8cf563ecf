import type { Core } from '@strapi/strapi';

export type Query = ReturnType<Core.Strapi['db']['connection']>;

/** The table behind a relation, and its columns for this side and the other. */
export interface Link {
  table: string;
  own: string;
  other: string;
}

/**
 * Strapi's tables for statements that every request needs: Strapi's query engine takes several statements where one does, at
 * several times the cost (docs/decisions/requester-roles.md).
 */
export interface Tables {
  tableOf(uid: string): string;
  columnOf(uid: string, attribute: string): string;
  linkOf(uid: string, attribute: string): Link;
  /**
   * Makes a statement on a table, whose text is made once, at the first call.
   * @param build gets placeholders of the values, by their position in a call
   * @returns runs it with values
   */
  statement<Row>(table: () => string, build: (query: Query, value: Placeholder) => Query): Ask<Row>;
}

export type Placeholder = (position: number) => string;
export type Ask<Row> = (...values: unknown[]) => Promise<Row[]>;

/** Runs a statement with `?` for its values, in the transaction that the caller is in. */
export type RunStatement = (sql: string, values: readonly unknown[]) => Promise<object[]>;

const placeholder: Placeholder = (position) => `\0value ${position}`;
const positionOf = (binding: unknown): number => Number(/^\0value (\d+)$/.exec(String(binding))?.[1] ?? -1);

export function createTables({ db }: Core.Strapi, run: RunStatement): Tables {
  return {
    tableOf: (uid) => db.metadata.get(uid).tableName,
    columnOf(uid, attribute) {
      const { columnName } = db.metadata.get(uid).attributes[attribute] as { columnName?: string };
      return columnName ?? attribute;
    },
    linkOf(uid, attribute) {
      const { joinTable } = db.metadata.get(uid).attributes[attribute] as unknown as {
        joinTable: { name: string; joinColumn: { name: string }; inverseJoinColumn: { name: string } };
      };
      return { table: joinTable.name, own: joinTable.joinColumn.name, other: joinTable.inverseJoinColumn.name };
    },
    statement<Row>(table: () => string, build: (query: Query, value: Placeholder) => Query): Ask<Row> {
      let made: { sql: string; bindings: readonly unknown[] } | undefined;
      return async (...values) => {
        made ??= build(db.getConnection(table()), placeholder).toSQL();
        const bound = made.bindings.map((binding) => {
          const position = positionOf(binding);
          return position < 0 ? binding : values[position];
        });
        return (await run(made.sql, bound)) as Row[];
      };
    },
  };
}
