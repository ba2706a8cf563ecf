import { createHash } from 'node:crypto';
import { grouped } from '../../common/collections';
import { isAppsError } from '../../common/errors';
import { settledOrTimeout } from '../../common/time/coalesce';
import { inSlices } from '../../common/time/pace';
import { type Dialect, marks, type Sql } from '../../database';
import { type Access, IndexMissing, type RecordWrite } from '../../indexes';
import type { CommitCounts } from '../commits/commits';
import { CollisionError, type CommitLog, type Position, type RangeCondition, touches } from '../commits/log';
import type { ContentRow, StoredRecord } from '../types';

/**
 * Characters of records that are compared with searches at once, counted for each search and for each 200 characters of its
 * condition: a test of a text reads all of it. With more, the searches run again.
 */
const MAX_TESTED = 250_000;

/** Searches that run again while their apps are locked, and others wait for them. */
const MAX_LOCKED = 20;

/** What a search has found: the records, the number of matches where it was asked for, and where the next page begins. */
export interface Found {
  records: readonly Pick<StoredRecord, 'seq' | 'version'>[];
  total?: number | undefined;
  next?: number | undefined;
}

/** What a unit of work reads by a condition instead of by ids. */
export interface RangeRead extends RangeCondition {
  scope: string;
  /** Names the condition: units that collide on it run one after the other. */
  name: string;
  /** What else is asked: a read with the same name and the same answer wanted is one that is made again. */
  asks: string;
  /** Runs the search again, outside of any transaction or over `access`, and reads no more than it must. */
  again(access?: Access): Promise<Found>;
}

/** What a read has seen of other commits, at least. */
export interface Seen {
  /** The changes of this process that may be missing in what was found. */
  since: Position;
  /** The commits of other processes (CommitCounts); undefined when that is not known. */
  counts: string | undefined;
}

interface Range extends RangeRead, Seen {
  /** What was found in the database; undefined when the unit's own writes were found too, or not the same each time. */
  found: Found | undefined;
  hasFound: boolean;
}

/** Another process has committed a change of the app since the last look: what was searched must be compared again. */
export class LookAgain extends CollisionError {}

/**
 * The range reads of a unit of work. At the commit each must find what it has found before, or the unit runs again: see
 * docs/decisions/serialisable.md.
 */
export class Ranges {
  private readonly list: Range[] = [];
  /** What a test of all costs beside that of a short condition. */
  private weight = 0;
  /** The same by what they ask: a bulk creation may count before each of its records. */
  private readonly byRead = new Map<string, Range>();
  /** Ends the watch of the log. */
  private unwatch: (() => void) | undefined;
  private hasEnded = false;
  private readonly transactions = new Set<object>();

  constructor(
    private readonly log: CommitLog,
    private readonly counts: CommitCounts,
  ) {}

  get length(): number {
    return this.list.length;
  }

  /** The apps whose records were read by a condition. */
  scopes(): string[] {
    return [...new Set(this.list.map(({ scope }) => scope))];
  }

  /** What they read, by app. */
  reads(): ReadonlyMap<string, readonly RangeCondition[]> {
    const byScope = new Map<string, RangeCondition[]>();
    for (const { scope, has, isCount } of this.list) {
      const known = byScope.get(scope);
      if (known) known.push({ has, isCount });
      else byScope.set(scope, [{ has, isCount }]);
    }
    return byScope;
  }

  /** The keys of the mutex by which units that collide on a range wait for each other. */
  keys(): string[] {
    return [...new Set(this.list.map(rangeKey))];
  }

  /**
   * Notes a read that begins now.
   * @param seen what the transaction in which it reads has seen of other commits; without it, it reads outside
   * @returns notes what it has found; without an argument, when the unit's own writes may be among it
   */
  begin(read: RangeRead, seen?: Seen): (found?: Found) => void {
    // A call of logic that has not waited for it: nothing of it is stored.
    if (this.hasEnded) return () => {};
    this.unwatch ??= this.log.watch();
    const key = keyOf(read);
    const range = this.byRead.get(key) ?? this.add(key, read, seen);
    return (found) => {
      range.found = range.hasFound && !areSame(range.found, found) ? undefined : found;
      range.hasFound = true;
    };
  }

  private add(key: string, read: RangeRead, seen: Seen | undefined): Range {
    const begun = seen ?? { since: this.log.position(), counts: this.counts.known(read.scope) };
    const range: Range = { ...read, ...begun, found: undefined, hasFound: false };
    this.list.push(range);
    this.weight += weightOf(range);
    this.byRead.set(key, range);
    return range;
  }

  /** Says that a transaction is the unit's: what hooks of the host write in it is no change of others. */
  own(transaction: object): void {
    this.transactions.add(transaction);
  }

  /** Forgets what was noted after the first `length` reads. */
  restore(length: number): void {
    for (const range of this.list.splice(length)) {
      this.byRead.delete(keyOf(range));
      this.weight -= weightOf(range);
    }
  }

  end(): void {
    this.hasEnded = true;
    this.unwatch?.();
    this.unwatch = undefined;
    this.restore(0);
  }

  /**
   * Compares all with the changes that were committed meanwhile; a CollisionError when one has changed. Where a search must run
   * again for that, it runs outside of any transaction.
   * @param sql of the unit's open transaction
   * @param leave ends that transaction before searches run again
   */
  async compare(sql: Sql | undefined, leave: () => Promise<void>): Promise<void> {
    if (this.list.length === 0) return;
    const position = this.log.position();
    const counts = await this.counts.look(this.scopes(), sql);
    const unknown: Range[] = [];
    for await (const range of inSlices(this.list)) {
      const result = this.changed(range);
      if (result === true) {
        // Otherwise the next attempt might read what was there before.
        await settledOrTimeout(this.log.settled());
        throw collision(range);
      }
      if (result === null || range.counts === undefined || range.counts !== counts.get(range.scope))
        unknown.push(range);
    }
    if (unknown.length > 0) await leave();
    for await (const range of inSlices(unknown)) if (!(await isSame(range))) throw collision(range);
    for (const range of this.list) {
      range.since = position;
      range.counts = counts.get(range.scope);
    }
  }

  /**
   * The same within the transaction of the commit, which has locked the apps: LookAgain when it cannot be decided there.
   * @param access by which searches may run again while the apps are locked; nothing was read or written there before
   */
  async check(sql: Sql, access?: Access): Promise<void> {
    if (this.list.length === 0) return;
    const counts = await this.counts.look(this.scopes(), sql);
    for (const range of this.list) {
      const result = this.changed(range);
      if (result === true) throw collision(range);
      if (result !== null && range.counts === counts.get(range.scope)) continue;
      if (!access || this.list.length > MAX_LOCKED) throw new LookAgain([rangeKey(range)]);
      if (!(await isSameInside(range, access))) throw collision(range);
    }
  }

  /** The collision with changes of the same commit; undefined without one, null when there is too much to compare. */
  collisionWith(
    changes: ReadonlyMap<string, { writes: readonly RecordWrite[]; text: number }>,
  ): CollisionError | undefined | null {
    for (const range of this.list) {
      const result = this.isTouched(range, changes.get(range.scope) ?? { writes: [], text: 0 });
      if (result !== false) return result && collision(range);
    }
    return undefined;
  }

  /** Whether it was changed since by this process; null when that is not known. */
  private changed(range: Range): boolean | null {
    const isOwn = (transaction: object) => this.transactions.has(transaction);
    const changes = this.log.since(range.since, range.scope, MAX_TESTED / this.weight, isOwn);
    return changes && this.isTouched(range, changes);
  }

  private isTouched(range: Range, { writes, text }: { writes: readonly RecordWrite[]; text: number }): boolean | null {
    if (text * this.weight > MAX_TESTED) return null;
    return writes.some((write) => touches(range, write));
  }
}

/** Whether a search finds what it has found before. */
const isSame = async ({ found, again }: Range, access?: Access): Promise<boolean> =>
  found !== undefined && areSame(found, await again(access));

/** The same in a transaction, which PostgreSQL ends with the first statement that fails: the unit runs again. */
async function isSameInside(range: Range, access: Access): Promise<boolean> {
  try {
    return await isSame(range, access);
  } catch (error) {
    const isKnown = error instanceof IndexMissing || isAppsError(error, 'ServiceUnavailableError');
    throw isKnown ? error : new CollisionError([rangeKey(range)], error);
  }
}

function areSame(found: Found | undefined, other: Found | undefined): boolean {
  if (!found || !other) return false;
  const [before, after] = [found.records, other.records];
  if (found.total !== other.total || found.next !== other.next || before.length !== after.length) return false;
  return before.every(({ seq, version }, at) => seq === after[at]?.seq && version === after[at]?.version);
}

/** A long condition may have a hundred phrases, each of which reads the whole text of a record. */
const weightOf = ({ name }: RangeRead): number => Math.ceil(name.length / 200);

/** Names a read among those of a unit. */
const keyOf = ({ scope, name, asks, isCount }: RangeRead): string => `${scope} ${isCount} ${asks} ${name}`;

const collision = (range: Range) => new CollisionError([rangeKey(range)]);

const RANGE = 'range:';

/** The key of the mutex for a range: the app, and a digest of the condition. */
function rangeKey({ scope, name }: RangeRead): string {
  return `${RANGE}${scope}:${createHash('sha1').update(name).digest('base64url')}`;
}

/** Whether a key of the mutex is the hash of a record: others name ranges and documents of the host. */
export const isRecordKey = (key: string): boolean => !key.includes(':');

/** The app of the key of a range; undefined for another key. */
export function scopeOfRange(key: string): string | undefined {
  return key.startsWith(RANGE) ? key.slice(RANGE.length, key.lastIndexOf(':')) : undefined;
}

/** Rows of the host's content that a unit of work has read: a commit that writes finds them as they were. */
export class ContentRows {
  private rows = new Map<string, ContentRow>();
  /** Documents that the unit itself has changed. */
  private own = new Set<string>();

  /** What was read first counts. */
  add(row: ContentRow): void {
    if (this.own.has(row.documentId)) return;
    const key = `${row.table} ${row.id}`;
    if (!this.rows.has(key)) this.rows.set(key, row);
  }

  all(): ContentRow[] {
    return [...this.rows.values()];
  }

  of(documentId: string): ContentRow[] {
    return this.all().filter((row) => row.documentId === documentId);
  }

  /** From now on a document is as the unit has left it. */
  change(documentId: string): void {
    this.own.add(documentId);
    for (const [key, row] of this.rows) if (row.documentId === documentId) this.rows.delete(key);
  }

  /** Saves the state; returns a function that restores it. */
  mark(): () => void {
    const [rows, own] = [new Map(this.rows), new Set(this.own)];
    return () => {
      this.rows = rows;
      this.own = own;
    };
  }
}

/**
 * Locks rows against changes until the transaction ends. CollisionError when one was changed or deleted since it was read.
 * @param changes whether the transaction is to change them: two that shared a lock would wait for each other
 */
export async function checkContent(
  sql: Sql,
  dialect: Dialect,
  rows: readonly ContentRow[],
  changes = false,
): Promise<void> {
  for (const [table, read] of grouped(rows, (row) => row.table)) {
    const ids = read.map(({ id }) => id);
    const text = `select id, updated_at from ${dialect.quoted(table)} where id in (${marks(ids)}) order by id${changes ? dialect.updateLock : dialect.shareLock}`;
    const now = new Map((await sql.rows(text, ids)).map((row) => [Number(row.id), timeOf(row.updated_at)]));
    const changed = read.find(({ id, updatedAt }) => now.get(id) !== updatedAt);
    if (changed) throw new CollisionError([`content:${changed.documentId}`]);
  }
}

/** Milliseconds since 1970 of a time as a database's driver gives it. */
function timeOf(value: unknown): number {
  return new Date(value as Date | number | string).getTime();
}
