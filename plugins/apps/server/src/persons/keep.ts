import { timeBefore } from '../apps';
import type { Block } from '../apps/types';
import type { Row } from '../database';
import { JobFailure } from '../jobs';
import type { JobHandler } from '../jobs/types';
import { type Earlier, scopeOf } from '../records';
import type { AppKey, Items } from '../records/types';
import { definedBlock, forget, forgettingOf } from './record-source';
import { anyOf, RECORDS, type RowCondition, type ScanPosition, type TableStatements } from './scan';
import type { LoadKeyed, PersonServices } from './types';

/** Milliseconds for which a try works; what is left then is the next one's, so that other jobs of the app have their time. */
const MAX_TIME = 60_000;

/** What a try whose time is over leaves to the next one. */
interface Progress {
  /** Where the scan of each table goes on. */
  positions: Record<string, ScanPosition>;
  /** Records that could not be removed so far, and why the first one. */
  failed: number;
  first: string;
}

interface KeepTools {
  tables: TableStatements;
  loadApp: LoadKeyed;
  services(): PersonServices;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/**
 * Does the jobs of `keep`: removes the records of a block whose time is over, or the items that `anonymize` names, and what the history
 * has of deleted ones. Each record goes in a transaction of its own; a try goes on where the one before has ended.
 */
export function keepJobs({ tables, loadApp, services, now = Date.now }: KeepTools): JobHandler {
  /** Removes one record, unless it is no longer one of the block. */
  const remove = (key: AppKey, block: Block, row: Row): Promise<boolean> =>
    forget(services(), { key, id: String(row.identifier), seq: Number(row.id) }, (record, app) => {
      const own = definedBlock(app, record.items);
      return own?.id === block.id ? forgettingOf(own, record) : null;
    });

  return async ({ job: { key, data }, signal, end }) => {
    const app = await loadApp(key);
    const block = app?.blocks.get(String(data.block));
    const error = app?.error ?? block?.error;
    if (error) throw error;
    const { keep } = block?.definition.privacy ?? { keep: null };
    if (!block || !keep) return nothing;
    const until = timeBefore(keep, now());
    const { positions = {}, failed = 0, first = '', ...job } = structuredClone(data) as Partial<Progress> & Items;
    const progress: Progress = { positions, failed, first };
    const time = now() + MAX_TIME;
    let isOver = false;
    const checkTime = () => {
      signal.throwIfAborted();
      isOver = now() > time;
      return isOver;
    };
    const own = resumedScans(tables, positions, checkTime);
    const removeAll = async () => {
      for await (const rows of expired(own, key, block, until))
        for (const row of rows) {
          if (checkTime()) {
            positions[RECORDS] = { after: Number(row.id) - 1 };
            return;
          }
          await remove(key, block, row).catch((error) => noteFailure(progress, row, error));
        }
    };
    await removeAll();
    if (!isOver) await forgetDeleted(own, key, block, until);
    if (isOver) await end(now(), { ...job, ...progress } as unknown as Items);
    else if (progress.failed > 0)
      // The next try looks at all records again.
      throw new JobFailure(`${progress.failed} records could not be removed, first ${progress.first}`, { data: job });
    return nothing;
  };
}

function noteFailure(progress: Progress, row: Row, error: unknown): void {
  progress.failed += 1;
  progress.first ||= `${String(row.identifier)}: ${error instanceof Error ? error.message : String(error)}`.slice(
    0,
    500,
  );
}

/** The tables for a try: their scans begin at the positions, and end after a window when the time of the try is over. */
function resumedScans(
  tables: TableStatements,
  positions: Record<string, ScanPosition>,
  isOver: () => boolean,
): TableStatements {
  return {
    ...tables,
    async *scan(table, hit, range) {
      const position = positions[table] ?? { after: 0 };
      positions[table] = position;
      for await (const rows of tables.scan(table, hit, range, position)) {
        if (rows.length === 0 && isOver()) return;
        yield rows;
      }
    },
  };
}

const nothing = { status: null, answer: null };

/**
 * The text of an item in stored JSON, as far as `like` can tell: names and ids have no characters that JSON escapes. It finds others too:
 * `_` is any character, some databases ignore case, and lists and objects have such texts. What it finds is looked at again.
 */
const hasItem = (column: string, text: string): RowCondition => ({ text: `t.${column} like ?`, values: [`%${text}%`] });

/** Rows of records of a block that were made before a moment, and of which something is left to go. */
async function* expired(
  tables: TableStatements,
  key: AppKey,
  { id, definition }: Block,
  until: number,
): AsyncGenerator<Row[]> {
  const { anonymize } = definition.privacy;
  const left = anonymize?.map((name) => hasItem('items', `${JSON.stringify(name)}:`)) ?? [];
  const something = anonymize ? anyOf([...left, { text: 't.creator is not null', values: [] }]) : null;
  const own = hasItem('items', `"block":${JSON.stringify(id)}`);
  const hit = {
    text: ['t.created_at < ?', own.text, ...(something ? [`(${something.text})`] : [])].join(' and '),
    values: [new Date(until), ...own.values, ...(something?.values ?? [])],
  };
  const within = { text: 'scope = ?', values: [scopeOf(key)] };
  yield* tables.scan(RECORDS, hit, { within, old: { text: 't.created_at < ?', values: [new Date(until)] } });
}

/** Forgets the versions of deleted records of a block, of which one is older than a moment. */
async function forgetDeleted(tables: TableStatements, key: AppKey, { id }: Block, until: number): Promise<void> {
  const own = anyOf(['items', 'earlier'].map((column) => hasItem(column, `"block":${JSON.stringify(id)}`)));
  const gone = `not exists (select 1 from ${RECORDS} r where r.hash = t.hash)`;
  const hit = { text: `t.at < ? and (${own.text}) and ${gone}`, values: [until, ...own.values] };
  const within = { text: 'scope = ?', values: [scopeOf(key)] };
  const old = { text: 't.at < ?', values: [until] };
  // A record may have been made again since its rows were read.
  const forget = `delete from apps_history where hash = ? and not exists (select 1 from ${RECORDS} where hash = ?)`;
  for await (const rows of tables.scan('apps_history', hit, { within, old }))
    for (const hash of new Set(rows.filter((row) => isOfBlock(row, id)).map((row) => String(row.hash))))
      await tables.write((sql) => sql.change(forget, [hash, hash]));
}

/** Whether a record was of the block, before or after the change that has made the version. */
function isOfBlock({ items, earlier }: Row, id: string): boolean {
  const after = JSON.parse(String(items)) as Items | null;
  const before = JSON.parse(String(earlier)) as Earlier | null;
  return after?.block === id || before?.set.block === id;
}
