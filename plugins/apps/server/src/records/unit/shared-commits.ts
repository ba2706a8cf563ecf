import { AsyncLocalStorage } from 'node:async_hooks';
import { isAppsError } from '../../common/errors';
import { settledOrTimeout } from '../../common/time/coalesce';
import { createSql, type Dialect, type HostDatabase, type Indexes, type Sql, translateError } from '../../indexes';
import type { Entry } from './entries';
import { flushEntries } from './flush';

/** Units that are committed together, and the records of one that is. */
const MAX_UNITS = 100;
const MAX_RECORDS = 50;

/** A unit of work that changes records alone, ready to be committed. */
export interface Part {
  /** Whether it has locked its records, for which other units of this process wait: they share its commit already. */
  readonly isAlone: boolean;
  /** The entries to write. */
  readonly pending: readonly Entry[];
  /** Rejects with a CollisionError when a record has changed that the unit has read. */
  check(sql: Sql): Promise<void>;
  /** Called before COMMIT: from then on the outcome of a failure is unknown. */
  written(): void;
}

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
export function sharedCommits(tools: {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
}): (part: Part) => Promise<void> {
  const { database, dialect, indexes } = tools;
  const outside = AsyncLocalStorage.snapshot();
  const waiting: Waiting[] = [];
  let isPlanned = false;
  let running: Promise<unknown> | undefined;

  const write = (parts: readonly Part[]): Promise<void> =>
    database.write(async (connection) => {
      const sql = createSql(connection, dialect);
      const pending = parts.flatMap((part) => part.pending);
      await flushEntries(sql, dialect, indexes, pending);
      for (const part of parts) await part.check(sql);
      for (const part of parts) part.written();
    });

  const alone = ({ part, resolve, reject }: Waiting): Promise<void> => write([part]).then(resolve, reject);

  const together = async (group: readonly Waiting[]): Promise<void> => {
    const parts = group.map(({ part }) => part);
    const kept = parts.flatMap(({ pending }) => pending.map((entry) => ({ entry, state: { ...entry } })));
    let isWritten = false;
    try {
      await write([
        ...parts,
        { isAlone: false, pending: [], check: async () => {}, written: () => (isWritten = true) },
      ]);
    } catch (error) {
      // Without a database each of them would wait for a connection, one after the other.
      const isFinal = isWritten || isAppsError(translateError(dialect, error), 'ServiceUnavailableError');
      if (isFinal) for (const { reject } of group) reject(error);
      for (const { entry, state } of kept) Object.assign(entry, state);
      if (!isFinal) for (const one of group) await alone(one);
      return;
    }
    for (const { resolve } of group) resolve();
  };

  const serve = async (): Promise<void> => {
    isPlanned = false;
    const group = waiting.splice(0, MAX_UNITS);
    const [first] = group;
    if (!first) return;
    const work = group.length === 1 ? alone(first) : together(group);
    running = work;
    await work;
    if (running === work) running = undefined;
    plan();
  };

  /** One group at a time, unless it waits for a lock of another process. */
  const plan = (): void => {
    if (isPlanned || waiting.length === 0) return;
    isPlanned = true;
    const before = running;
    if (before) void settledOrTimeout(before).then(serve);
    else setImmediate(serve);
  };

  return async (part) => {
    if (part.isAlone || part.pending.length > MAX_RECORDS || (await database.current())) return write([part]);
    return new Promise((resolve, reject) => {
      waiting.push({ part, resolve, reject });
      outside(plan);
    });
  };
}
