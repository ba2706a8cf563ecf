/** Who may write which records, in this process: requests that have collided wait for their turn instead of racing on. */
export interface Turns {
  /** Waits until all keys are free, takes them, and returns how to give them back. */
  take(keys: Iterable<string>): Promise<() => void>;
  /** The first of the keys that somebody else than the holder of `own` has taken. */
  takenByOther(keys: Iterable<string>, own: ReadonlySet<string>): string | undefined;
}

/** One queue a key, first come first served. Keys are taken in order, so that no two wait for each other. */
export function createTurns(): Turns {
  const queues = new Map<string, Promise<void>>();

  const takeOne = async (key: string): Promise<() => void> => {
    const before = queues.get(key);
    let free = () => {};
    const turn = new Promise<void>((resolve) => {
      free = resolve;
    });
    const tail = (before ?? Promise.resolve()).then(() => turn);
    queues.set(key, tail);
    await before;
    return () => {
      if (queues.get(key) === tail) queues.delete(key);
      free();
    };
  };

  return {
    async take(keys) {
      const frees: (() => void)[] = [];
      for (const key of [...keys].sort()) frees.push(await takeOne(key));
      return () => {
        for (const free of frees) free();
      };
    },
    takenByOther(keys, own) {
      for (const key of keys) if (queues.has(key) && !own.has(key)) return key;
      return undefined;
    },
  };
}
