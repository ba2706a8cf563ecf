import type { Knex } from 'knex';
import mail from '../../content-types/mail/schema.json';
import mailRate from '../../content-types/mail-rate/schema.json';
import { addColumns } from '../../records/testing/columns';

/** Makes the tables of the outbox, by the schemas of the content types. */
export async function createTables(knex: Knex): Promise<void> {
  for (const { collectionName, attributes } of [mail, mailRate])
    await knex.schema.createTable(collectionName, (table) => {
      addColumns(table, attributes);
      table.unique(collectionName === mailRate.collectionName ? ['site', 'app'] : ['mail_id']);
    });
}
