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
  /** Runs a query on a table, in the transaction that the caller is in. */
  ask<Row>(table: string, build: (query: Query) => Query): Promise<Row[]>;
}

export function createTables({ db }: Core.Strapi): Tables {
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
    async ask(table, build) {
      const query = build(db.getConnection(table));
      return db.inTransaction() ? query.transacting((await db.transaction()).get()) : query;
    },
  };
}
