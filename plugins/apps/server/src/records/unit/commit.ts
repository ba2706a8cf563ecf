import { AsyncLocalStorage } from 'node:async_hooks';
import { chunks, grouped } from '../../common/collections';
import type { Awaitable } from '../../common/time/awaitable';
import { settledOrTimeout } from '../../common/time/coalesce';
import { expectWork, SLICE, shortWork } from '../../common/time/pace';
import { createSql, type Dialect, type HostDatabase, isUnavailable, type Sql, type Transaction } from '../../database';
import type { Indexes, RecordWrite } from '../../indexes';
import { type Claims, checkClaims, lockClaims } from '../commits/claims';
import { afterTransaction, type Commits } from '../commits/commits';
import { type Changes, CollisionError, sizeOf } from '../commits/log';
import { type Batch, type Batches, isMany, partsOf } from '../pending';
import type { CommitRows } from '../types';
import {
  type Entry,
  flushEntries,
  insertNew,
  insertRows,
  isNew,
  lockApps,
  type NewEntry,
  withJson,
  writesOf,
} from './entries';
import { LookAgain, type Ranges } from './reads';

/** Units that are committed together, the characters of their records, and the records of one that is. */
const MAX_UNITS = 100;
const MAX_TEXT = 256 * 1024;
const MAX_RECORDS = 50;

/** Characters from which on the rows of a group hold the thread for a time that counts, and how many of them do for a millisecond. */
const LONG_TEXT = 64 * 1024;
const TEXT_A_MILLISECOND = 40_000;

/** What a unit of work writes when it is committed, and what must hold then. */
export interface Part {
  /** Whether it has locked its records, for which other units of this process wait: they share its commit already. */
  readonly isAlone: boolean;
  /** The entries to write. */
  readonly pending: readonly Entry[];
  /** Apps in which no other transaction may write records meanwhile. */
  readonly alone: ReadonlySet<string>;
  /** What the unit has searched, which must be the same. */
  readonly ranges: Ranges;
  /** What must hold when it is written. */
  readonly claims: ReturnType<Claims['all']>;
  /** Whether its searches may run again while the apps are locked: another process commits without a pause. */
  readonly isInsistent: boolean;
  /** Ends the unit's part of the transaction: a CollisionError when a record has changed that the unit has read. */
  check(sql: Sql): Awaitable<void>;
  /** Rows of other tables. */
  readonly inserts: readonly CommitRows[];
  /** Called before COMMIT: from then on a failure is that of the commit, and final. */
  written(): void;
}

/** The transaction of a commit. */
interface Writing {
  /** The transaction of other code that it is part of. */
  outer: Transaction | undefined;
  /** Whether it was open before, so that it may have read before it has the locks. */
  isOpened: boolean;
  /** What was written in it before, by app. */
  earlier: ReadonlyMap<string, readonly RecordWrite[]>;
  /** Writes what is no part of a unit; returns the apps that it changes. */
  publish(sql: Sql): Promise<Changes>;
}

interface CommitTools {
  dialect: Dialect;
  indexes: Indexes;
  commits: Commits;
}

/**
 * The statements of a commit, but for COMMIT itself: in a transaction of its own, or in one that a unit has opened before. The locks come
 * first, so that a unit can be committed again after another look; what is checked last sees all that was written.
 * @returns must be called when the transaction has ended, or may have
 */
export async function writeParts(
  sql: Sql,
  tools: CommitTools,
  parts: readonly Part[],
  { outer, isOpened, earlier, publish }: Writing,
): Promise<() => void> {
  const { dialect, indexes, commits } = tools;
  const pending = parts.flatMap((part) => part.pending);
  const claims = parts.flatMap((part) => part.claims);
  const alone = new Set(parts.flatMap((part) => [...part.alone]));
  const scopes = pending.map(({ scope }) => scope);
  const locked = await lockApps(sql, indexes, scopes, alone, outer !== undefined);
  await lockClaims(sql, indexes, claims);
  const position = commits.log.position();
  // On SQLite a search would block the thread here, and those of other processes wait for one another anyway.
  const access = dialect.oneWriter || isOpened ? undefined : { sql, trx: undefined, runsAgain: true };
  for (const part of parts)
    if (part.ranges.length > 0) await part.ranges.check(sql, part.isInsistent ? access : undefined);
  const published = await publish(sql);
  const changes = new Map<string, readonly RecordWrite[] | null>(earlier);
  for (const [scope, writes] of await flushEntries(sql, tools, pending, locked))
    changes.set(scope, [...(earlier.get(scope) ?? []), ...writes]);
  for (const [scope, writes] of published) changes.set(scope, writes);
  await checkClaims(sql, tools, claims, { changes, isOpened, position });
  for (const part of parts) {
    const checked = part.check(sql);
    if (checked) await checked;
  }
  await insertRows(
    sql,
    parts.flatMap((part) => part.inserts),
  );
  const recorded = await commits.record(sql, changes, outer);
  for (const part of parts) part.written();
  return recorded;
}

const nothing: Writing['publish'] = async () => new Map();

/** Entries of which the JSON is in memory at once, while they are written as a batch. */
const MAX_PREPARED = 50;

const lengths = function* (entries: readonly Entry[]) {
  for (const entry of entries) yield withJson(entry).json.length;
};

interface Waiting {
  part: Part;
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * Commits units that end at the same time in one transaction: BEGIN, COMMIT, the lock of the indexes' state and the
 * statements cost as much for ten records as for one. A unit that fails does not fail the others: each is then committed by
 * itself. See docs/decisions/storage-writing.md.
 * @returns commits a unit, or rejects with the error of its own transaction
 */
export function sharedCommits(
  tools: CommitTools & { database: HostDatabase; batches: Batches },
): (part: Part) => Promise<void> {
  const { database, dialect, batches } = tools;
  const outside = AsyncLocalStorage.snapshot();

  /** @param isWritten called before COMMIT */
  const write = async (parts: readonly Part[], publish = nothing, isWritten = () => {}): Promise<void> => {
    const current = database.current();
    const outer = current && (await current);
    let recorded = () => {};
    try {
      await database.write(async (connection) => {
        const writing = { outer, isOpened: outer !== undefined, earlier: new Map(), publish };
        recorded = await writeParts(createSql(connection, dialect), tools, parts, writing);
        isWritten();
      });
    } finally {
      afterTransaction(outer, recorded);
    }
  };

  /** Writes the many new records of a unit as batches, which its transaction makes visible. */
  const inBatches = (part: Part, many: readonly (readonly [string, readonly Entry[]])[]): Promise<void> =>
    batches.together(async (begin) => {
      const written: Batch[] = [];
      for (const [scope, entries] of many) {
        const batch = await begin(scope, entries.length);
        written.push(batch);
        const insert = (sql: Sql, part: readonly NewEntry[], first: number) =>
          insertNew(sql, dialect, scope, part, first);
        for (const some of chunks(entries, MAX_PREPARED)) {
          const fresh: NewEntry[] = [];
          for (const entry of some) fresh.push(await shortWork(() => withJson(entry)));
          await batch.write(await partsOf(fresh, ({ json }) => json.length), insert);
        }
        for (const entry of entries) Object.assign(entry, { dirty: false, written: true });
      }
      const left = { ...part, pending: part.pending.filter(({ dirty }) => dirty) };
      await write([left], async (sql) => {
        for (const batch of written) await batch.publish(sql);
        return new Map(many.map(([scope]) => [scope, null]));
      }).catch((error) => {
        // The batches are deleted: the unit cannot be committed again.
        throw error instanceof LookAgain ? new CollisionError(error.keys) : error;
      });
    });

  /** The new records of each app that has many of them in the unit. */
  const manyOf = ({ pending }: Part): [string, Entry[]][] => {
    const fresh = dialect.oneWriter ? pending.filter(isNew) : [];
    return [...grouped(fresh, ({ scope }) => scope)].filter(([, entries]) => isMany(entries.length, lengths(entries)));
  };

  const alone = ({ part, resolve, reject }: Waiting): Promise<void> => write([part]).then(resolve, reject);

  /** The units of a group that can be committed together: those whose searches one before them changes come after the commit. */
  const admitted = (units: readonly Waiting[]): { group: Waiting[]; later: () => Promise<void> } => {
    if (units.every(({ part }) => part.ranges.length === 0)) return { group: [...units], later: async () => {} };
    const changes = new Map<string, { writes: RecordWrite[]; text: number }>();
    const group: Waiting[] = [];
    const left: (() => void | Promise<void>)[] = [];
    const until = performance.now() + SLICE;
    for (const unit of units) {
      // With large texts the comparisons of a hundred units would hold the thread.
      const collision = performance.now() > until ? null : unit.part.ranges.collisionWith(changes);
      if (collision !== undefined) {
        left.push(() => (collision ? unit.reject(collision) : alone(unit)));
        continue;
      }
      group.push(unit);
      for (const [scope, writes] of writesOf(unit.part.pending)) {
        const known = changes.get(scope) ?? { writes: [], text: 0 };
        changes.set(scope, { writes: [...known.writes, ...writes], text: known.text + sizeOf(writes) });
      }
    }
    const later = async () => {
      for (const next of left) await next();
    };
    return { group, later };
  };

  const together = async (units: readonly Waiting[]): Promise<void> => {
    const { group, later } = admitted(units);
    const parts = group.map(({ part }) => part);
    const kept = parts.flatMap(({ pending }) => pending.map((entry) => ({ entry, state: { ...entry } })));
    let isWritten = false;
    try {
      await write(parts, nothing, () => {
        isWritten = true;
      });
    } catch (error) {
      // Without a database each of them would wait for a connection, one after the other.
      const isFinal = isWritten || isUnavailable(error);
      if (isFinal) for (const { reject } of group) reject(error);
      for (const { entry, state } of kept) Object.assign(entry, state);
      if (!isFinal) for (const one of group) await alone(one);
      return later();
    }
    for (const { resolve } of group) resolve();
    // After the commit, which their next attempt must see.
    await later();
  };

  const commitGroup = (group: readonly Waiting[]): Promise<void> => {
    const [first, ...others] = group;
    return first && others.length === 0 ? alone(first) : together(group);
  };
  const plain = createQueue(commitGroup, settledOrTimeout);
  /** Of units that lock apps, by these. */
  const locking = new Map<string, { apps: ReadonlySet<string>; queue: Queue }>();

  /**
   * A unit that locks an app may wait for a transaction of another process, and writers to the app wait behind it: all of them use one
   * connection, and writers to other apps do not wait.
   */
  const queueOf = ({ alone: apart, pending }: Part): Queue => {
    const isLocked = (scope: string) => [...locking.values()].some(({ apps }) => apps.has(scope));
    const apps = apart.size > 0 ? apart : new Set(pending.map(({ scope }) => scope).filter(isLocked));
    if (apps.size === 0) return plain;
    const key = [...apps].sort().join(' ');
    const known = locking.get(key);
    if (known) return known.queue;
    const end = () => void locking.delete(key);
    const queue = createQueue(commitGroup, (before) => before, end);
    locking.set(key, { apps, queue });
    return queue;
  };

  return async (part) => {
    if (database.current()) return write([part]);
    const many = manyOf(part);
    if (many.length > 0) return inBatches(part, many);
    const isOwn = part.isAlone && part.alone.size === 0;
    if (isOwn || part.pending.length > MAX_RECORDS) return write([part]);
    return new Promise((resolve, reject) => outside(() => queueOf(part)({ part, resolve, reject })));
  };
}

/** Characters of the records that a unit writes, before and after, about. */
const textOf = ({ pending }: Part): number =>
  sizeOf(pending.map(({ base, current }) => ({ before: base, after: current })));

/** Adds a unit to those that wait for a commit. */
type Queue = (unit: Waiting) => void;

/**
 * Units of which those that have arrived meanwhile are committed together, as many as `MAX_UNITS` and `MAX_TEXT` allow: the rows of a
 * group are made at once, and on SQLite written so.
 * @param commit commits a group; never rejects
 * @param after resolves when the next group may be committed, after the one that runs
 * @param isEmpty called when none is left
 */
function createQueue(
  commit: (group: readonly Waiting[]) => Promise<void>,
  after: (running: Promise<void>) => Promise<unknown>,
  isEmpty = () => {},
): Queue {
  const waiting: Waiting[] = [];
  let isPlanned = false;
  let running: Promise<void> | undefined;

  /** Takes the next group, and the characters of its records. */
  const take = (): { group: Waiting[]; text: number } => {
    let [units, text] = [0, 0];
    for (const { part } of waiting) {
      const sum = text + textOf(part);
      if (units > 0 && (units === MAX_UNITS || sum > MAX_TEXT)) break;
      units += 1;
      text = sum;
    }
    return { group: waiting.splice(0, units), text };
  };

  const next = async (): Promise<void> => {
    const { group, text } = take();
    if (text > LONG_TEXT) await expectWork(text / TEXT_A_MILLISECOND);
    await commit(group);
  };

  const serve = async (): Promise<void> => {
    isPlanned = false;
    const work = next();
    running = work;
    await work;
    if (running === work) running = undefined;
    plan();
    if (!isPlanned && !running) isEmpty();
  };

  const plan = (): void => {
    if (isPlanned || waiting.length === 0) return;
    isPlanned = true;
    if (running) void after(running).then(serve);
    else setImmediate(serve);
  };

  return (unit) => {
    waiting.push(unit);
    plan();
  };
}
