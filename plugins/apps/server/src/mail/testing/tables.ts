import type { Knex } from 'knex';
import mail from '../../content-types/mail/schema.json';
import mailRate from '../../content-types/mail-rate/schema.json';

/** How Strapi's schema sync makes the columns of an attribute. */
const columns: Record<string, (table: Knex.CreateTableBuilder, name: string) => unknown> = {
  string: (table, name) => table.string(name),
  text: (table, name) => table.text(name, 'longtext'),
  integer: (table, name) => table.integer(name),
  biginteger: (table, name) => table.bigInteger(name),
};
/** The column of an attribute. */
export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Makes the tables of the outbox, by the schemas of the content types. */
export async function createTables(knex: Knex): Promise<void> {
  for (const { collectionName, attributes } of [mail, mailRate])
    await knex.schema.createTable(collectionName, (table) => {
      table.increments('id');
      for (const [name, { type }] of Object.entries(attributes)) columns[type]?.(table, snakeCase(name));
      table.unique(collectionName === mailRate.collectionName ? ['site', 'app'] : ['mail_id']);
    });
}
