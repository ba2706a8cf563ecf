import { createSql, dialects, type HostDatabase, isFailure, marks, type Row, readerOf, type Sql } from '../database';
import type { DeclaredSchedule, ScheduleProgress } from './types';

const TABLE = 'apps_schedules';

/** A schedule as stored: how far it has come, and its last job. */
export interface StoredSchedule {
  progress: ScheduleProgress;
  last: { tick: number; job: string } | null;
}

/** A row with the block that it is of. */
export interface StoredRow extends StoredSchedule {
  site: string;
  app: string;
  block: string;
}

/** Rows of one statement. */
const CHUNK = 500;

function storedOf(row: Row): StoredSchedule {
  const { position, ran, last_tick: tick, job_id: job } = row;
  return {
    progress: { position: Number(position), ran: JSON.parse(String(ran)) as ScheduleProgress['ran'] },
    last: tick === null || job === null ? null : { tick: Number(tick), job: String(job) },
  };
}

const valuesOf = ({ progress: { position, ran }, last }: StoredSchedule): unknown[] => [
  ...[position, JSON.stringify(ran)],
  ...[last?.tick ?? null, last?.job ?? null],
];

const stateColumns = ['position', 'ran', 'last_tick', 'job_id'];
const columns = ['schedule_id', 'site', 'app', 'block', 'run', ...stateColumns];

/** The statements of the table of schedules. */
export class ScheduleRows {
  private readonly dialect;

  constructor(private readonly database: HostDatabase) {
    this.dialect = dialects[database.client];
  }

  private reading(): Sql {
    return createSql(readerOf(this.database), this.dialect);
  }

  private inTransaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction((trx) => work(createSql(trx, this.dialect)));
  }

  /** The rows of these sites, by the ids of their schedules. */
  async ofSites(sites: readonly string[]): Promise<Map<string, StoredRow>> {
    const text = `select * from ${TABLE} where site in (${marks(sites)})`;
    const rows = sites.length > 0 ? await this.reading().rows(text, sites) : [];
    return new Map(
      rows.map((row) => {
        const { schedule_id: id, site, app, block } = row;
        return [String(id), { ...storedOf(row), site: String(site), app: String(app), block: String(block) }];
      }),
    );
  }

  async find(id: string): Promise<StoredSchedule | null> {
    const [row] = await this.reading().rows(`select * from ${TABLE} where schedule_id = ?`, [id]);
    return row ? storedOf(row) : null;
  }

  /** Adds rows; those that another process has added meanwhile stay. */
  async add(rows: readonly (readonly [DeclaredSchedule, StoredSchedule])[]): Promise<void> {
    const { verb, ending } = this.dialect.insertIgnore;
    for (const [{ id, key, block, function: name }, stored] of rows) {
      const values = [id, key.site, key.app, block, name, ...valuesOf(stored)];
      // Each by itself: processes that add several rows in one transaction lock each other out on MariaDB.
      await this.inTransaction((sql) => sql.insert(TABLE, columns, [values], ending, verb));
    }
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const some = ids.slice(at, at + CHUNK);
      await this.inTransaction((sql) => sql.change(`delete from ${TABLE} where schedule_id in (${marks(some)})`, some));
    }
  }

  async clear(): Promise<void> {
    await this.inTransaction((sql) => sql.change(`delete from ${TABLE}`));
  }

  /**
   * Moves a schedule on, in one transaction with what `store` writes.
   * @param position where it must be: null is returned, and nothing written, when another process has moved it on, or the
   *   database has ended the transaction in favour of another one
   */
  async advance(
    id: string,
    position: number,
    progress: ScheduleProgress,
    store: () => Promise<StoredSchedule['last']>,
  ): Promise<StoredSchedule | null> {
    const work = this.inTransaction(async (sql) => {
      // The first statement: it waits for a process that does the same, and then finds its position.
      const claim = `update ${TABLE} set position = ? where schedule_id = ? and position = ?`;
      if ((await sql.change(claim, [progress.position, id, position])) === 0) return null;
      const stored = { progress, last: await store() };
      const set = stateColumns.map((column) => `${column} = ?`).join(', ');
      await sql.change(`update ${TABLE} set ${set} where schedule_id = ?`, [...valuesOf(stored), id]);
      return stored;
    });
    return work.catch((error) => {
      if (isFailure(error, 'collision')) return null;
      throw error;
    });
  }
}
