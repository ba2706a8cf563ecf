/** A mutex for each key: requests that have collided on a record write it one at a time in this process. */
export interface KeyedMutex {
  /** Waits until all keys are free and locks them; the returned function unlocks them. */
  lock(keys: Iterable<string>): Promise<() => void>;
  /** The first key that is locked and not in `own`. */
  lockedByOther(keys: Iterable<string>, own: ReadonlySet<string>): string | undefined;
}

/** One FIFO queue for each key. Keys are locked in sorted order, which excludes deadlocks. */
export function createKeyedMutex(): KeyedMutex {
  const queues = new Map<string, Promise<void>>();

  const lockOne = async (key: string): Promise<() => void> => {
    const before = queues.get(key);
    let unlock = () => {};
    const unlocked = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    const tail = (before ?? Promise.resolve()).then(() => unlocked);
    queues.set(key, tail);
    await before;
    return () => {
      if (queues.get(key) === tail) queues.delete(key);
      unlock();
    };
  };

  return {
    async lock(keys) {
      const unlocks: (() => void)[] = [];
      for (const key of [...keys].sort()) unlocks.push(await lockOne(key));
      return () => {
        for (const unlock of unlocks) unlock();
      };
    },
    lockedByOther(keys, own) {
      for (const key of keys) if (queues.has(key) && !own.has(key)) return key;
      return undefined;
    },
  };
}
