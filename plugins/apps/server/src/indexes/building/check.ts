import { createSql, inTransaction, MAX_SEQ, type Sql } from '../../database';
import { addRows, deleteRange, entriesOf, type IndexedRecord } from '../rows';
import {
  dropTables,
  fieldIndexes,
  type Generation,
  type IndexLayout,
  isCurrent,
  layoutOf,
  lockState,
  readScopes,
  readState,
  tablesOf,
} from '../tables';
import type { IndexCheck } from '../types';
import type { BuildTools } from './build';

const batchSize = 500;

/**
 * Compares every record with its rows in the ready index tables, and every row with its record, while the server may
 * continue to work; `repair` corrects wrong rows.
 */
export async function checkIndexes(tools: BuildTools, repair: boolean): Promise<IndexCheck> {
  const sql = createSql(tools.database.knex(), tools.dialect);
  const found: IndexCheck = { records: 0, wrong: 0, orphanTables: 0 };
  const named = new Set<string>();
  for (const scope of await readScopes(sql)) {
    const state = await readState(sql, scope);
    for (const { id } of state) named.add(id);
    for (const generation of state.filter((one) => one.phase === 'ready' && isCurrent(one))) {
      const { records, wrong } = await checkGeneration(tools, sql, scope, generation, repair);
      found.records += records;
      found.wrong += wrong;
    }
  }
  found.orphanTables = await dropOrphans(tools, sql, named, repair);
  return found;
}

async function checkGeneration(
  tools: BuildTools,
  sql: Sql,
  scope: string,
  generation: Generation,
  repair: boolean,
): Promise<{ records: number; wrong: number }> {
  const layout = layoutOf(generation.indexes);
  let [after, records, wrong] = [0, 0, 0];
  for (;;) {
    const batch = await tools.source.scan(sql, scope, after, batchSize, false);
    const until = batch.at(-1)?.seq ?? MAX_SEQ;
    if ((await wrongRows(sql, generation.id, layout, batch, after, until)) > 0) {
      // Perhaps only because of a concurrent write: checked again with the records locked.
      const range: [number, number] = [after, until];
      wrong += await inTransaction(tools, async (trx) => {
        // Writers hold this lock until they commit: no record is stored between the two looks.
        const state = await lockState(trx, tools.dialect, scope, 'update');
        if (!state.some(({ id }) => id === generation.id)) return 0;
        const kept = await recordsBetween(tools, trx, scope, range);
        const count = await wrongRows(trx, generation.id, layout, kept, ...range);
        if (!count || !repair) return count;
        await deleteRange(trx, generation.id, { after, until, visible: false });
        await addRows(trx, tools.dialect, generation.id, layout, kept);
        return count;
      });
    }
    records += batch.length;
    if (batch.length === 0) return { records, wrong };
    after = until;
  }
}

/** All records after `after` up to `until`, locked. */
async function recordsBetween(
  { source }: BuildTools,
  sql: Sql,
  scope: string,
  [after, until]: [number, number],
): Promise<IndexedRecord[]> {
  const found: IndexedRecord[] = [];
  for (let from = after; ; ) {
    const batch = await source.scan(sql, scope, from, batchSize, true);
    found.push(...batch.filter(({ seq }) => seq <= until));
    from = batch.at(-1)?.seq ?? MAX_SEQ;
    if (from >= until) return found;
  }
}

/** The number of records after `after` up to `until` with wrong rows. */
async function wrongRows(
  sql: Sql,
  generation: string,
  layout: IndexLayout,
  records: readonly IndexedRecord[],
  after: number,
  until: number,
): Promise<number> {
  const held = await heldRows(sql, generation, layout, after, until);
  let wrong = 0;
  for (const record of records) {
    if (held.get(record.seq) !== summaryOf(layout, record)) wrong += 1;
    held.delete(record.seq);
  }
  return wrong + held.size;
}

/** All rows of each record as one text. */
async function heldRows(
  sql: Sql,
  generation: string,
  layout: IndexLayout,
  after: number,
  until: number,
): Promise<Map<number, string>> {
  const { fields, terms, bodies } = tablesOf(generation);
  const columns = fieldIndexes(layout).map(({ number }) => `k${number}`);
  const lines = new Map<number, string[]>();
  const collect = async (table: string, kind: string, names: string[]) => {
    const text = `select record, ${names.join(', ')} from ${table} where record > ? and record <= ?`;
    for (const row of await sql.rows(text, [after, until])) {
      const seq = Number(row.record);
      const list = lines.get(seq) ?? [];
      list.push([kind, ...names.map((name) => textOf(row[name]))].join(' '));
      lines.set(seq, list);
    }
  };
  await collect(fields, 'f', columns);
  await collect(terms, 't', ['ix', 'term', 'weight']);
  await collect(bodies, 'b', ['ix', 'body']);
  return new Map([...lines].map(([seq, list]) => [seq, list.sort().join('\n')]));
}

function summaryOf(layout: IndexLayout, record: IndexedRecord): string {
  const { keys, terms, bodies } = entriesOf(layout, record);
  return [
    ['f', ...keys.map(textOf)].join(' '),
    ...terms.map(({ index, term, rank }) => ['t', index, textOf(term), rank].join(' ')),
    ...bodies.map(({ index, body }) => ['b', index, textOf(body)].join(' ')),
  ]
    .sort()
    .join('\n');
}

const textOf = (value: unknown): string => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));

async function dropOrphans(tools: BuildTools, sql: Sql, named: Set<string>, repair: boolean): Promise<number> {
  const names = (await sql.rows(tools.dialect.tableNames)).map((row) =>
    /^apps_index_([0-9a-f]{16})_/.exec(String(row.name)),
  );
  const orphans = names.flatMap((match) => (match?.[1] && !named.has(match[1]) ? [match[1]] : []));
  if (orphans.length === 0) return 0;
  // A generation is in a state before it has tables: one that no state names at a second reading is an orphan.
  for (const scope of await readScopes(sql)) for (const { id } of await readState(sql, scope)) named.add(id);
  const left = orphans.filter((id) => !named.has(id));
  if (repair) await dropTables(sql, [...new Set(left)]);
  return left.length;
}
