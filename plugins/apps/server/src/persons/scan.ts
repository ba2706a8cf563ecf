import { expectWork } from '../common/time/pace';
import { createSql, dialects, type HostDatabase, isFailure, marks, type Row, readerOf, type Sql } from '../database';

export const RECORDS = 'apps_records';

/** Rows that one statement looks at, and that are read at once. */
const WINDOW = 100;
const READ = 20;

/** Milliseconds that a row takes about to be looked at. */
const ROW_TIME = 0.02;

/** Attempts of a write that other processes collide with. */
const MAX_TRIES = 5;

/** A condition of SQL with the values of its placeholders. */
export interface RowCondition {
  text: string;
  values: readonly unknown[];
}

const always: RowCondition = { text: '1 = 1', values: [] };

/**
 * The time in which a request works on entries; what is left then is the next one's. It begins with the first entry that is done:
 * each request scans from the first row, and would otherwise end before it has found one, each time.
 */
export class Deadline {
  private end = Number.POSITIVE_INFINITY;

  constructor(
    private readonly milliseconds: number,
    private readonly now: () => number,
  ) {}

  /** Begins the time with the first entry that is done. One that fails is none: the next request meets it again. */
  start(): void {
    this.end = Math.min(this.end, this.now() + this.milliseconds);
  }

  get isOver(): boolean {
    return this.now() > this.end;
  }
}

/** The id of the last row that a scan has looked at. */
export interface ScanPosition {
  after: number;
}

/** Statements for tables of the plugin, in short steps: others are served between them. */
export interface TableStatements {
  /**
   * Rows of a table that meet a condition, in batches, in the order of their ids. It looks at all rows, each in one of many short
   * statements. After those of a window comes an empty batch, so that its reader can end there.
   * @param range `within`: which rows are looked at; by an index. `old`: what rows meet that may be hits: it ends after a window without any
   * @param position where it begins; it moves on with each window
   */
  scan(
    table: string,
    hit: RowCondition,
    range?: { within: RowCondition; old: RowCondition },
    position?: ScanPosition,
  ): AsyncGenerator<Row[]>;
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Deletes rows by their ids; the number of those that were there. */
  delete(table: string, ids: readonly number[]): Promise<number>;
}

export function createTableStatements(database: HostDatabase): TableStatements {
  const dialect = dialects[database.client];
  const reading = () => createSql(readerOf(database), dialect);

  const write: TableStatements['write'] = async (work) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await database.transaction((trx) => work(createSql(trx, dialect)));
      } catch (error) {
        if (!isFailure(error, 'collision') || tries === MAX_TRIES) throw error;
      }
    }
  };

  return {
    async *scan(table, hit, { within, old } = { within: always, old: always }, position = { after: 0 }) {
      const window = `select * from ${table} where ${within.text} and id > ? order by id limit ${WINDOW}`;
      const flag = ({ text }: RowCondition, name: string) => `case when ${text} then 1 else 0 end as ${name}`;
      const text = `select t.id, ${flag(hit, 'hit')}, ${flag(old, 'old')} from (${window}) t order by t.id`;
      for (;;) {
        await expectWork(ROW_TIME * WINDOW);
        const rows = await reading().rows(text, [...hit.values, ...old.values, ...within.values, position.after]);
        const ids = rows.filter((row) => Number(row.hit) === 1).map(({ id }) => Number(id));
        for (let at = 0; at < ids.length; at += READ) {
          const some = ids.slice(at, at + READ);
          const sql = reading();
          // Records of a bulk creation that is not complete are none yet.
          const visible = table === RECORDS ? sql.visible('id') : '';
          yield await sql.rows(`select * from ${table} where ${visible}id in (${marks(some)}) order by id`, some);
        }
        if (rows.length < WINDOW || rows.every((row) => Number(row.old) === 0)) return;
        position.after = Number(rows.at(-1)?.id);
        yield [];
      }
    },
    write,
    async delete(table, ids) {
      if (ids.length === 0) return 0;
      return write((sql) => sql.change(`delete from ${table} where id in (${marks(ids)})`, ids));
    },
  };
}

/** Any of the conditions. */
export const anyOf = (conditions: readonly RowCondition[]): RowCondition => ({
  text: conditions.length === 0 ? '1 = 0' : conditions.map(({ text }) => `(${text})`).join(' or '),
  values: conditions.flatMap(({ values }) => values),
});

/** A moment that a driver has read: a date, or milliseconds as a number or text. ISO 8601; null where there is none. */
export function timeOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  const date = new Date(isNumber ? Number(value) : (value as string | Date));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
