import { expect, test, vi } from 'vitest';
import { type ChangeWatcher, watchChanges } from './changes';
import type { RecordStore, UnitObserver, UnitOfWork } from './types';

const key = { site: 'site', app: 'app' };

/** A store whose transaction runs its work `attempts` times, and fails at the end with `error`. */
function storeOf({ attempts = 1, error }: { attempts?: number; error?: Error } = {}) {
  const createMany = vi.fn(async () => 2);
  const transact = async <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> => {
    let result: T | undefined;
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const observers: UnitObserver[] = [];
      const create = (id: string) => {
        for (const { onItems } of observers) onItems?.(key, null, { n: attempt }, { id, creator: null });
      };
      result = await work({ observe: (one: UnitObserver) => observers.push(one), create } as unknown as UnitOfWork);
    }
    if (error) throw error;
    return result as T;
  };
  return { createMany, transact } as unknown as RecordStore;
}

/** Creates records by the fake unit, which takes an id. */
const creating =
  (...ids: string[]) =>
  async (unit: UnitOfWork) => {
    for (const id of ids) (unit.create as unknown as (id: string) => void)(id);
    return 'done';
  };

function watcher(name: string, said: string[]): ChangeWatcher {
  return {
    changed(_unit, changes) {
      said.push(`${name} ${changes.map(({ id, after }) => `${id}=${after?.n}`).join()}`);
      return () => void said.push(`${name} committed`);
    },
    bulk: (store) => ({
      async createMany(...given) {
        said.push(`${name} bulk`);
        return store.createMany(...given);
      },
    }),
  };
}

test('watchers get the changes of a transaction before its commit, and act after it, in their order', async () => {
  const said: string[] = [];
  const store = watchChanges(storeOf(), [watcher('a', said), watcher('b', said)]);
  expect(await store.transact(creating('x', 'y'))).toBe('done');
  expect(said).toEqual(['a x=1,y=1', 'b x=1,y=1', 'a committed', 'b committed']);
});

test('a transaction without changes calls no watcher', async () => {
  const said: string[] = [];
  await watchChanges(storeOf(), [watcher('a', said)]).transact(creating());
  expect(said).toEqual([]);
});

test('after a second attempt watchers act once, and after a rollback never', async () => {
  const said: string[] = [];
  await watchChanges(storeOf({ attempts: 2 }), [watcher('a', said)]).transact(creating('x'));
  expect(said).toEqual(['a x=1', 'a x=2', 'a committed']);
  const failing = watchChanges(storeOf({ error: new Error('no') }), [watcher('b', said)]);
  await expect(failing.transact(creating('x'))).rejects.toThrow('no');
  expect(said.at(-1)).toBe('b x=1');
});

test('the last watcher wraps bulk changes outermost', async () => {
  const said: string[] = [];
  const store = watchChanges(storeOf(), [watcher('a', said), watcher('b', said)]);
  expect(await store.createMany(key, (async function* () {})())).toBe(2);
  expect(said).toEqual(['b bulk', 'a bulk']);
});
