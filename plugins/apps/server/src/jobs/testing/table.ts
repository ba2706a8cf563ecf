import type { Knex } from 'knex';
import schema from '../../content-types/job/schema.json';
import { addColumns } from '../../records/testing/columns';

/** Makes the table of jobs, by the schema of the content type. */
export async function createTable(knex: Knex): Promise<void> {
  await knex.schema.createTable(schema.collectionName, (table) => {
    addColumns(table, schema.attributes);
    for (const index of schema.indexes)
      if (index.type === 'unique') table.unique(index.columns);
      else table.index(index.columns, index.name);
  });
}
