import { AppsError } from '../errors';
import { type Dialect, type Indexes, isFailure, type Sql } from '../indexes';
import { storable } from './change';
import { firstFreeId } from './free-id';
import { checkId, generateId, hashOf, scopeOf } from './ids';
import { insertRecords, type RecordInsert, selectTaken } from './table';
import type { AppKey, NewRecord } from './types';

/** How often a chunk is tried again because another process has generated one of its ids. */
const attempts = 10;

export interface ManyTools {
  sql: Sql;
  dialect: Dialect;
  indexes: Indexes;
  key: AppKey;
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

/** Refuses records that can never be stored, before a transaction is opened. */
export async function* checkedRecords(records: AsyncIterable<NewRecord>): AsyncIterable<NewRecord> {
  for await (const record of records) {
    if (record.id !== undefined) checkId(record.id);
    yield record;
  }
}

async function insertChunk(
  tools: ManyTools,
  chunk: NewRecord[],
): Promise<{ seq: number; id: string; items: RecordInsert['items'] }[]> {
  const { sql, dialect, key } = tools;
  for (let attempt = 1; ; attempt++) {
    const inserts = await toInserts(tools, chunk);
    await sql.change('savepoint apps_chunk');
    try {
      const seqs = await insertRecords(sql, dialect, scopeOf(key), inserts);
      await sql.change('release savepoint apps_chunk');
      return inserts.map(({ id, items }, at) => ({ seq: seqs[at] as number, id, items }));
    } catch (error) {
      if (!isFailure(error, 'taken') || attempt === attempts) throw error;
      await sql.change('rollback to savepoint apps_chunk');
      await refuseTaken(tools, chunk);
    }
  }
}

async function toInserts({ sql, key }: ManyTools, chunk: NewRecord[]): Promise<RecordInsert[]> {
  const used = new Set<string>();
  const inserts: RecordInsert[] = [];
  for (const { id: given, whenTaken, items, creator } of chunk) {
    const wanted = given ?? generateId();
    const numbered = given !== undefined && whenTaken === 'number';
    const id = numbered ? await firstFreeId(sql, key, wanted, (hash) => used.has(hash) || undefined) : wanted;
    const hash = hashOf(key, id);
    if (used.has(hash)) throw taken(id);
    used.add(hash);
    inserts.push({ hash, site: key.site, app: key.app, id, items: storable(items), creator });
  }
  return inserts;
}

/** ConflictError when an id of the chunk that must be had as it is exists already; else a generated one is to blame. */
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
