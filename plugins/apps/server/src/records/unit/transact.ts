import { AppsError } from '../../common/errors';
import { IndexMissing } from '../../indexes';
import { CollisionError } from '../commits/commits';
import { hashOf } from '../table/ids';
import type { RecordStore, UnitOfWork } from '../types';
import { notBuilt } from './entries';
import { createGroups } from './group';
import { isRecordKey } from './ranges';
import { type Effect, RecordUnit } from './unit';
import type { UnitTools } from './unit-tools';
import { WorkUnit } from './work-unit';

/**
 * Attempts of a unit without locks in the database. Later collisions are with other processes, because units of this one
 * wait for the mutex. The unit then locks the records in the database too, so that even the slowest is committed.
 */
const UNLOCKED_ATTEMPTS = 3;

/** Makes `RecordStore.transact`, which runs a work up to `maxAttempts` times. */
export function createTransact(tools: UnitTools, maxAttempts: number): RecordStore['transact'] {
  const groups = createGroups(tools.mutex, (own) => new RecordUnit(tools, own));

  /** Runs a work in a separate unit, with the records locked in this process. Rejects with the reason when it is not committed. */
  const alone = async <T>(
    work: (unit: UnitOfWork) => Promise<T>,
    keys: ReadonlySet<string>,
    locked: boolean,
  ): Promise<T> => {
    const free = await tools.mutex.lock(keys);
    const unit = new RecordUnit(tools, keys);
    let effects: Effect[];
    let result: Awaited<ReturnType<typeof work>>;
    try {
      if (locked) await unit.hold(keys);
      result = await work(new WorkUnit(unit));
      effects = unit.takeEffects();
      await unit.commit();
    } catch (error) {
      const failure = unit.failure ?? error;
      await unit.rollback();
      throw failure;
    } finally {
      free();
    }
    // After unlocking, because an effect may lock the records.
    await unit.carryOut(effects);
    return result;
  };

  return async (work, about) => {
    // A work in the caller's transaction cannot run again: only the caller may roll it back.
    const nested = (await tools.database.current()) !== undefined;
    const keys = new Set<string>(about && !nested ? [hashOf(about.key, about.id)] : []);
    let joined = nested;
    for (let attempt = 1; attempt <= (nested ? 1 : maxAttempts); attempt++) {
      const [key] = keys;
      const join = !joined && keys.size === 1 && [...keys].every(isRecordKey);
      joined ||= join;
      try {
        if (join && key !== undefined) return await groups.join(key, work);
        return await alone(work, keys, attempt > UNLOCKED_ATTEMPTS && keys.size > 0);
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

/** Prepares the next attempt after a failure that may not recur; rethrows any other. */
async function beforeNext(failure: unknown, keys: Set<string>, attempt: number): Promise<void> {
  if (failure instanceof IndexMissing) return failure.build();
  if (!(failure instanceof CollisionError)) throw failure;
  for (const key of failure.keys) keys.add(key);
  // After the first collision, waiting for the mutex is enough; later ones are with another process.
  if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * attempt));
}
