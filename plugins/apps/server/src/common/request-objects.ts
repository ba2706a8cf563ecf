import { setFlagsFromString } from 'node:v8';

/*
 * For objects of one request to which something refers that lives longer. V8 collects young objects often and old ones seldom, and it
 * keeps a young object as long as any old one refers to it, a dead one too. WeakMap, Set, Map and getters that are made for an object
 * leave such references behind: each request was kept whole up to the next full collection (docs/decisions/garbage.md). What is here
 * leaves none.
 */

/**
 * Lets V8 put no new object among the old ones. It does so where the first objects that a piece of code makes live long, as the
 * listeners of a starting server do, and those of each request then keep it up to the next full collection.
 */
export const allocateYoung = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * A value that a module keeps with an object of one request, in a property of that object: no copy has it, no list of properties names
 * it, and objects that inherit from this one do not have it. In place of a WeakMap. Not for frozen objects.
 */
export class OwnValue<K extends object, V> {
  private readonly key: symbol;

  /** @param name for debuggers */
  constructor(name: string) {
    this.key = Symbol(name);
  }

  get(of: K): V | undefined {
    return Object.hasOwn(of, this.key) ? (of as Record<symbol, V>)[this.key] : undefined;
  }

  getOrMake(of: K, make: () => V): V {
    const before = this.get(of);
    if (before !== undefined) return before;
    const value = make();
    this.set(of, value);
    return value;
  }

  set(of: K, value: V | undefined): void {
    Object.defineProperty(of, this.key, { value, configurable: true, writable: true, enumerable: false });
  }
}

/**
 * Makes objects whose properties are read when they are looked at. They are the objects' own, as layouts list them; their getters are
 * the same functions for all objects.
 * @param getters the properties in their order, each a function of what an object is made from
 * @param hidden properties that are not listed
 */
export function objectsWith<State>(
  getters: Readonly<Record<string, (state: State) => unknown>>,
  hidden: readonly string[] = [],
): (state: State) => { [name: string]: unknown } {
  const states = Symbol('state');
  const descriptors = Object.entries(getters).map(([name, read]): [string, PropertyDescriptor] => [
    name,
    {
      enumerable: !hidden.includes(name),
      get() {
        return read((this as Record<symbol, State>)[states] as State);
      },
    },
  ]);
  return (state) => {
    const made = Object.defineProperty({}, states, { value: state });
    for (const [name, descriptor] of descriptors) Object.defineProperty(made, name, descriptor);
    return made;
  };
}

/** An entry of a `RequestSet`. */
export interface SetEntry<T> {
  value: T | undefined;
  previous: SetEntry<T> | undefined;
  next: SetEntry<T> | undefined;
}

/** Objects in the order in which they came, in place of a Set; an entry that is removed refers to nothing. */
export class RequestSet<T> {
  private first: SetEntry<T> | undefined;
  private last: SetEntry<T> | undefined;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** @returns the entry, for `delete` */
  add(value: T): SetEntry<T> {
    const entry: SetEntry<T> = { value, previous: this.last, next: undefined };
    if (this.last) this.last.next = entry;
    else this.first = entry;
    this.last = entry;
    this.count += 1;
    return entry;
  }

  /** Safe to call twice. */
  delete(entry: SetEntry<T>): void {
    if (entry.value === undefined) return;
    if (entry.previous) entry.previous.next = entry.next;
    else this.first = entry.next;
    if (entry.next) entry.next.previous = entry.previous;
    else this.last = entry.previous;
    entry.value = entry.previous = entry.next = undefined;
    this.count -= 1;
  }

  /** Those of now: others may come and go meanwhile. */
  values(): T[] {
    const all: T[] = [];
    for (let entry = this.first; entry; entry = entry.next) all.push(entry.value as T);
    return all;
  }

  /** The first one of which `is` is true. */
  find(is: (value: T) => boolean): T | undefined {
    for (let entry = this.first; entry; entry = entry.next) if (is(entry.value as T)) return entry.value;
    return undefined;
  }
}

/** Values by numbers that count up, in place of a Map. */
export class RequestMap<T> {
  private all: { [number: number]: T } = {};
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: number): T | undefined {
    return this.all[key];
  }

  set(key: number, value: T): void {
    if (!Object.hasOwn(this.all, key)) this.count += 1;
    this.all[key] = value;
  }

  delete(key: number): void {
    if (!Object.hasOwn(this.all, key)) return;
    this.count -= 1;
    delete this.all[key];
  }

  values(): T[] {
    return Object.values(this.all);
  }

  clear(): void {
    this.all = {};
    this.count = 0;
  }
}
