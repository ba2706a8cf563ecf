import type { Knex } from 'knex';

/** The schema of a content type, as far as its table follows from it. */
interface Schema {
  collectionName: string;
  attributes: Record<string, { type: string }>;
  indexes?: { name: string; columns: string[]; type?: string }[];
}

/** How Strapi's schema sync makes the columns of an attribute. */
const columns: Record<string, (table: Knex.CreateTableBuilder, name: string) => unknown> = {
  string: (table, name) => table.string(name),
  text: (table, name) => table.text(name, 'longtext'),
  integer: (table, name) => table.integer(name),
  biginteger: (table, name) => table.bigInteger(name),
};

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Makes the tables of content types, with their indexes. */
export async function createContentTables(knex: Knex, schemas: readonly Schema[]): Promise<void> {
  for (const { collectionName, attributes, indexes = [] } of schemas)
    await knex.schema.createTable(collectionName, (table) => {
      table.increments('id');
      for (const [name, { type }] of Object.entries(attributes)) columns[type]?.(table, snakeCase(name));
      for (const { name, columns: of, type } of indexes)
        if (type === 'unique') table.unique(of, { indexName: name });
        else table.index(of, name);
    });
}
