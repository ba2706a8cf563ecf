import type { Knex } from 'knex';

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
export function addColumns(
  table: Knex.CreateTableBuilder,
  attributes: Readonly<Record<string, { type: string }>>,
): void {
  table.increments('id');
  for (const [name, { type }] of Object.entries(attributes)) columns[type]?.(table, snakeCase(name));
}
