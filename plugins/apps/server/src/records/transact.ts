import { AppsError } from '../errors';
import { IndexMissing } from '../indexes';
import { CollisionError } from './collision';
import { createGroups } from './group';
import { hashOf } from './ids';
import type { RecordStore, UnitOfWork } from './types';
import { type Effect, RecordUnit } from './unit';
import type { UnitTools } from './unit-transaction';

/**
 * Attempts of a unit without a lock in the database. Who has lost so often lost against other processes, for in this
 * one it has its turn: it then keeps the records locked while it runs, so that even the slowest comes through.
 */
const patientAttempts = 3;

/** Makes `RecordStore.transact`. `attempts`: of a work, at most. */
export function createTransact(tools: UnitTools, attempts: number): RecordStore['transact'] {
  const groups = createGroups(tools.turns, (own) => new RecordUnit(tools, own));

  /** Runs a work in a unit of its own, when it is the turn of the records. Rejects with why it was not committed. */
  const alone = async <T>(
    work: (unit: UnitOfWork) => Promise<T>,
    keys: ReadonlySet<string>,
    locked: boolean,
  ): Promise<T> => {
    const free = await tools.turns.take(keys);
    const unit = new RecordUnit(tools, keys);
    let effects: Effect[];
    let result: Awaited<ReturnType<typeof work>>;
    try {
      if (locked) await unit.hold(keys);
      result = await work(unit);
      effects = unit.takeEffects();
      await unit.commit();
    } catch (error) {
      const failure = unit.failure ?? error;
      await unit.rollback();
      throw failure;
    } finally {
      free();
    }
    // Without the turn, which an effect may want for itself.
    await unit.carryOut(effects);
    return result;
  };

  return async (work, about) => {
    // In somebody else's transaction there is nothing to run again: it is theirs to roll back.
    const nested = (await tools.database.current()) !== undefined;
    const keys = new Set<string>(about && !nested ? [hashOf(about.key, about.id)] : []);
    let joined = nested;
    for (let attempt = 1; attempt <= (nested ? 1 : attempts); attempt++) {
      const [key] = keys;
      const join = !joined && keys.size === 1;
      joined ||= join;
      try {
        if (join && key !== undefined) return await groups.join(key, work);
        return await alone(work, keys, attempt > patientAttempts && keys.size > 0);
      } catch (failure) {
        if (nested && failure instanceof IndexMissing) throw notBuilt(failure);
        await beforeNext(failure, keys, attempt);
      }
    }
    throw new AppsError('ConflictError', 'Others are changing the same records, try again', {
      headers: { 'Retry-After': '1' },
    });
  };
}

/** Gets ready for the next run of a unit that has failed for a reason that may be gone then; throws any other. */
async function beforeNext(failure: unknown, keys: Set<string>, attempt: number): Promise<void> {
  if (failure instanceof IndexMissing) return failure.build();
  if (!(failure instanceof CollisionError)) throw failure;
  for (const key of failure.keys) keys.add(key);
  // The first time, waiting for one's turn is enough; later it was another process.
  if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
}

/** In a transaction that is not the store's, an index can be neither built nor waited for. */
export function notBuilt(missing: IndexMissing): AppsError {
  missing.build().catch(() => undefined);
  return new AppsError('ServiceUnavailableError', 'The indexes are not built yet, try again soon', {
    headers: { 'Retry-After': '2' },
  });
}
