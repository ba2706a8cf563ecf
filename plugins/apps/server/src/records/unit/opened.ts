import { isAppsError } from '../../common/errors';
import { type Dialect, translateError } from '../../indexes';
import { CollisionError } from '../commits/collision';
import { type OpenTransaction, openTransaction } from './transaction';
import type { UnitTools } from './unit-tools';

/** `joined`: the transaction belongs to the calling code, which alone may end it. `free` lets the next unit open one. */
export type Opened = OpenTransaction & { joined: boolean; free(): void };

/**
 * SQLite has one connection. Units that may keep it while logic runs lock it one by one, so that other requests wait for at
 * most one of them.
 */
const CONNECTION_KEY = 'connection';

/** Opens the transaction of a unit, or joins that of the calling code. `stays`: it may stay open while logic runs. */
export async function openForUnit({ database, dialect, mutex }: UnitTools, stays: boolean): Promise<Opened> {
  const joined = (await database.current()) !== undefined;
  const queues = database.client === 'sqlite' && !joined && stays;
  const free = queues ? await mutex.lock([CONNECTION_KEY]) : () => {};
  const transaction = await openTransaction(database).catch((error) => {
    free();
    throw translateError(dialect, error);
  });
  return { ...transaction, joined, free };
}

/** Repeats a change of host content. When it fails now, another request has changed the content meanwhile. */
export async function repeatChange(opened: Opened, dialect: Dialect, change: () => Promise<unknown>): Promise<void> {
  try {
    await opened.run(change);
  } catch (cause) {
    const error = translateError(dialect, cause);
    throw isAppsError(error, 'ServiceUnavailableError') ? error : new CollisionError([], cause);
  }
  // Strapi's code hardly ever yields on SQLite: without this, many changes would block the thread.
  await new Promise((resolve) => setImmediate(resolve));
}

/** Runs work and undoes its writes when it fails; `lost` receives the error when they cannot be undone. */
export async function belowSavepoint<T>(
  trx: Opened['trx'],
  savepoint: string,
  work: () => Promise<T>,
  lost: (cause: unknown) => void,
): Promise<T> {
  await trx.raw(`savepoint ${savepoint}`);
  try {
    const result = await work();
    await trx.raw(`release savepoint ${savepoint}`);
    return result;
  } catch (error) {
    await trx.raw(`rollback to savepoint ${savepoint}`).catch(lost);
    throw error;
  }
}
