import type { Knex } from 'knex';

/** The parts of a content type's schema.json that make its table. */
interface Schema {
  collectionName: string;
  attributes: Readonly<Record<string, { type: string }>>;
  indexes?: readonly { name: string; columns: string[]; type?: string }[];
}

/** How Strapi's schema sync makes the columns of an attribute. */
const columns: Record<string, (table: Knex.CreateTableBuilder, name: string) => unknown> = {
  string: (table, name) => table.string(name),
  text: (table, name) => table.text(name, 'longtext'),
  integer: (table, name) => table.integer(name),
  biginteger: (table, name) => table.bigInteger(name),
};

/** The column of an attribute. */
export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Adds the id and the columns of a content type's attributes. */
export function addColumns(table: Knex.CreateTableBuilder, attributes: Schema['attributes']): void {
  table.increments('id');
  for (const [name, { type }] of Object.entries(attributes)) columns[type]?.(table, snakeCase(name));
}

/** Makes the table of a content type, with the indexes of its schema. */
export async function createTable(knex: Knex, { collectionName, attributes, indexes = [] }: Schema): Promise<void> {
  await knex.schema.createTable(collectionName, (table) => {
    addColumns(table, attributes);
    for (const index of indexes)
      if (index.type === 'unique') table.unique(index.columns);
      else table.index(index.columns, index.name);
  });
}
