import { AppsError } from '../../common/errors';
import { type Dialect, type IndexedRecord, type Indexes, isFailure, type Sql } from '../../indexes';
import { storable, withoutId } from '../table/change';
import { firstFreeId } from '../table/free-id';
import { checkId, generateId, hashOf, scopeOf } from '../table/ids';
import { insertRecords, type RecordInsert, selectTaken } from '../table/table';
import type { AppKey, NewRecord } from '../types';

/** Attempts to insert a chunk when another process has generated one of its ids. */
const MAX_ATTEMPTS = 10;

export interface ManyTools {
  sql: Sql;
  dialect: Dialect;
  indexes: Indexes;
  key: AppKey;
  /** Whether the records are those of an export, without limits of their items. */
  restores: boolean;
}

/** Inserts batches of records, in order, in the transaction; returns how many. ConflictError when a given id is taken. */
export async function insertMany(tools: ManyTools, batches: AsyncIterable<NewRecord[]>): Promise<number> {
  const generations = await tools.indexes.lock(tools.sql, scopeOf(tools.key));
  let total = 0;
  for await (const chunk of batches) {
    const inserts = await insertChunk(tools, chunk);
    await tools.indexes.write(
      tools.sql,
      generations,
      inserts.map((after) => ({ before: null, after })),
    );
    total += chunk.length;
  }
  return total;
}

/** BadRequestError for a record that can never be stored, before a transaction is opened. */
export async function checkIds(batches: AsyncIterable<NewRecord[]>): Promise<void> {
  for await (const batch of batches) for (const { id } of batch) if (id !== undefined) checkId(id);
}

async function insertChunk(tools: ManyTools, chunk: NewRecord[]): Promise<IndexedRecord[]> {
  const { sql, dialect, key } = tools;
  for (let attempt = 1; ; attempt++) {
    const inserts = await toInserts(tools, chunk);
    await sql.change('savepoint apps_chunk');
    try {
      const seqs = await insertRecords(sql, dialect, scopeOf(key), inserts);
      await sql.change('release savepoint apps_chunk');
      return inserts.map(({ id, items, creator }, at) => ({ seq: seqs[at] as number, id, items, creator }));
    } catch (error) {
      if (!isFailure(error, 'taken') || attempt === MAX_ATTEMPTS) throw error;
      await sql.change('rollback to savepoint apps_chunk');
      await refuseTaken(tools, chunk);
    }
  }
}

async function toInserts({ sql, key, restores }: ManyTools, chunk: NewRecord[]): Promise<RecordInsert[]> {
  const used = new Set<string>();
  const inserts: RecordInsert[] = [];
  for (const { id: given, whenTaken, items, creator } of chunk) {
    const wanted = given ?? generateId();
    const numbered = given !== undefined && whenTaken === 'number';
    const id = numbered ? await firstFreeId(sql, key, wanted, (hash) => used.has(hash) || undefined) : wanted;
    const hash = hashOf(key, id);
    if (used.has(hash)) throw taken(id);
    used.add(hash);
    inserts.push({ hash, site: key.site, app: key.app, id, items: (restores ? withoutId : storable)(items), creator });
  }
  return inserts;
}

/** ConflictError when a given id that may not be numbered is taken; otherwise a generated id has collided. */
async function refuseTaken({ sql, key }: ManyTools, chunk: NewRecord[]): Promise<void> {
  const given = chunk
    .filter(({ id, whenTaken }) => id !== undefined && whenTaken !== 'number')
    .map(({ id }) => id as string);
  const existing = await selectTaken(
    sql,
    given.map((id) => hashOf(key, id)),
  );
  const id = given.find((one) => existing.has(hashOf(key, one)));
  if (id !== undefined) throw taken(id);
}

function taken(id: string): AppsError {
  return new AppsError('ConflictError', 'A record id is taken', { details: { id } });
}
