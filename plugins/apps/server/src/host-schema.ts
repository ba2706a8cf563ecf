/** A table of Strapi's schema: what the plugin reads of it. */
export interface SchemaTable {
  name: string;
  columns: { name: string }[];
  indexes: { name: string }[];
  foreignKeys: { name: string }[];
}

interface Schema {
  tables: SchemaTable[];
}

/** Where Strapi keeps the schema of its last start (`strapi.db.schema.schemaStorage`). */
interface SchemaStorage {
  read(): Promise<{ schema: Schema } | null>;
  add(schema: Schema): Promise<void>;
  hashSchema(schema: Schema): string;
}

/**
 * Columns and tables of the plugin that no release reads any more which may run beside this one: the start of this release removes
 * them. A row for a column names its table and the column alone; one for a table has no columns (docs/decisions/rolling-upgrades.md).
 */
export const contracted: readonly SchemaTable[] = [];

/**
 * Keeps Strapi from removing tables, columns and indexes of the plugin that this release does not declare: another release that runs on
 * the database at the same time may use them. When it starts, Strapi removes what the schema of the last start has and its own has not.
 * The plugin's tables are left out of the schema that is stored and of the one that is read, so that neither this release nor an earlier
 * one, which does not know this rule, removes anything of them. What is missing is added as before.
 *
 * Called before Strapi changes its tables: in `register`.
 * @param names of the plugin's tables
 * @param removed what is to be removed all the same
 */
export function keepTables(
  { schemaStorage: storage }: { schemaStorage: SchemaStorage },
  names: ReadonlySet<string>,
  removed: readonly SchemaTable[] = contracted,
): void {
  const { read, add, hashSchema } = storage;
  const others = ({ tables, ...rest }: Schema): Schema => ({
    ...rest,
    tables: tables.filter(({ name }) => !names.has(name)),
  });
  /** Those of whole schemas, by which Strapi knows at the next start that nothing has changed. */
  const hashes = new WeakMap<Schema, string>();
  storage.hashSchema = (schema) => hashes.get(schema) ?? hashSchema.call(storage, schema);
  storage.add = (schema) => {
    const stored = others(schema);
    hashes.set(stored, hashSchema.call(storage, schema));
    return add.call(storage, stored);
  };
  storage.read = async () => {
    const last = await read.call(storage);
    if (!last) return null;
    const { tables } = others(last.schema);
    return { ...last, schema: { ...last.schema, tables: [...tables, ...removed] } };
  };
}
